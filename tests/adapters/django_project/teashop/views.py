"""Sessions, pages and fragments, each of them cached in the way that Django's documentation shows."""

import datetime as dt
import itertools

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.views.decorators.cache import cache_page

made = itertools.count(1)
"""How often something was made and not taken out of the cache."""


def basket(request: HttpRequest, name: str, count: int) -> HttpResponse:
    found = request.session.get("basket", {})
    found[name, count] = (dt.datetime(2026, 5, 1, tzinfo=dt.UTC), {count}, b"\x00")
    request.session["basket"] = found
    return HttpResponse("ok")


def show_basket(request: HttpRequest) -> HttpResponse:
    return HttpResponse(repr(request.session.get("basket")))


@cache_page(60)
def page(request: HttpRequest) -> HttpResponse:
    response = JsonResponse({"made": next(made)})
    response["X-Tea"] = "green"
    response.set_cookie("seen", "yes; really", max_age=60, httponly=True)
    return response


@cache_page(60)
def template_page(request: HttpRequest) -> HttpResponse:
    return TemplateResponse(request, "page.html", {"made": next(made)})


def fragment(request: HttpRequest) -> HttpResponse:
    return render(request, "fragment.html", {"made": lambda: next(made)})


def log_in(request: HttpRequest) -> HttpResponse:
    login(request, User.objects.get(username="ada"), backend="django.contrib.auth.backends.ModelBackend")
    return HttpResponse("ok")


def whoami(request: HttpRequest) -> HttpResponse:
    return HttpResponse(str(request.user))
