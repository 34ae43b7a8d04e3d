"""Settings of the shop. Every cache looks into one Redis, so that one reads what another wrote."""

import os

SECRET_KEY = "the secret of the tea shop, which is no secret at all"
SECRET_KEY_FALLBACKS: list[str] = []
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "teashop.urls"
USE_TZ = True
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "teashop"]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("TEASHOP_DATABASE", ":memory:")}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

SESSION_ENGINE = "django.contrib.sessions.backends.cache"
SESSION_SERIALIZER = "npser.adapters.django.SessionSerializer"

NPSER = {"classes": ["teashop.models.Tea", "teashop.models.Grower", "teashop.models.Steep"]}

REDIS = os.environ.get("TEASHOP_REDIS", "redis://127.0.0.1:6379/0")
DJANGO = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS}
OURS = {"BACKEND": "npser.adapters.django.RedisCache", "LOCATION": REDIS}
REDIS_CACHE = "django_redis.cache.RedisCache"
SERIALIZER = "npser.adapters.django_redis.Serializer"
CLIENT = "npser.adapters.django_redis.Client"

CACHES = {
    "default": OURS,
    "serializer": {**DJANGO, "OPTIONS": {"serializer": "npser.adapters.django.Serializer"}},
    "pickle": DJANGO,
    "unpickling": {**OURS, "OPTIONS": {"npser": {"foreign": "pickle"}}},
    "refusing": {**OURS, "OPTIONS": {"npser": {"foreign": "refuse"}}},
    "signed": {**OURS, "OPTIONS": {"npser": {"key": "SECRET_KEY"}}},
    "signed by another": {**OURS, "OPTIONS": {"npser": {"key": b"a key of another program, 32 bytes"}}},
    "compressed": {**OURS, "OPTIONS": {"npser": {"compress": "zlib", "compress_from": 100}}},
    "without classes": {**OURS, "OPTIONS": {"npser": {"classes": []}}},
    "text": {**OURS, "OPTIONS": {"decode_responses": True}},
    "redis": {"BACKEND": REDIS_CACHE, "LOCATION": REDIS, "OPTIONS": {"SERIALIZER": SERIALIZER, "CLIENT_CLASS": CLIENT}},
    "redis serializer": {"BACKEND": REDIS_CACHE, "LOCATION": REDIS, "OPTIONS": {"SERIALIZER": SERIALIZER}},
    "redis pickle": {"BACKEND": REDIS_CACHE, "LOCATION": REDIS},
    "redis unpickling": {
        "BACKEND": REDIS_CACHE,
        "LOCATION": REDIS,
        "OPTIONS": {"SERIALIZER": SERIALIZER, "CLIENT_CLASS": CLIENT, "NPSER": {"foreign": "pickle"}},
    },
    "redis signed": {
        "BACKEND": REDIS_CACHE,
        "LOCATION": REDIS,
        "OPTIONS": {"SERIALIZER": SERIALIZER, "CLIENT_CLASS": CLIENT, "NPSER": {"key": "SECRET_KEY"}},
    },
    "redis compressed": {
        "BACKEND": REDIS_CACHE,
        "LOCATION": REDIS,
        "OPTIONS": {
            "SERIALIZER": SERIALIZER,
            "CLIENT_CLASS": CLIENT,
            "COMPRESSOR": "django_redis.compressors.zlib.ZlibCompressor",
        },
    },
    "redis ignoring": {
        "BACKEND": REDIS_CACHE,
        "LOCATION": REDIS,
        "OPTIONS": {"SERIALIZER": SERIALIZER, "CLIENT_CLASS": CLIENT, "IGNORE_EXCEPTIONS": True},
    },
    "redis text": {
        "BACKEND": REDIS_CACHE,
        "LOCATION": REDIS,
        "OPTIONS": {"SERIALIZER": SERIALIZER, "CONNECTION_POOL_KWARGS": {"decode_responses": True}},
    },
}
