"""The pages of the shop."""

from django.urls import path

from teashop import views

urlpatterns = [
    path("basket/<str:name>/<int:count>", views.basket),
    path("basket", views.show_basket),
    path("page", views.page),
    path("template-page", views.template_page),
    path("fragment", views.fragment),
    path("login", views.log_in),
    path("whoami", views.whoami),
]
