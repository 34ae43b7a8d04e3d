"""One file a framework: what makes npser the serializer of a cache, a queue, a frame, in one line of its configuration.

Strategy: an adapter is thin. It turns what its framework calls a serializer into the verbs of a `Codec`, keeps the
framework's own habits (ints that are counted with stay ints, a miss is a miss), and imports the framework only when it
is itself imported. Nothing below this floor knows that adapters exist.
"""
