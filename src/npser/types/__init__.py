"""What npser knows about types that it does not build from blocks alone: classes and who may be built."""
