"""Real servers for the tests of adapters."""

from __future__ import annotations

from servers import RedisServer, Server, found, free_port, memcached_server, redis_server, redis_url

__all__ = ["RedisServer", "Server", "found", "free_port", "memcached_server", "redis_server", "redis_url"]
