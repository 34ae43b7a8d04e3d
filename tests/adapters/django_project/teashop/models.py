"""What the shop sells."""

from dataclasses import dataclass

from django.db import models


class Grower(models.Model):
    name = models.CharField(max_length=50)

    class Meta:
        app_label = "teashop"


class Tea(models.Model):
    name = models.CharField(max_length=50)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    picked = models.DateTimeField(null=True)
    grower = models.ForeignKey(Grower, on_delete=models.CASCADE, null=True)
    label = models.BinaryField(default=b"")

    class Meta:
        app_label = "teashop"


class Label(models.Model):
    """Of a grower, who knows it, too: the two lead to each other."""

    grower = models.OneToOneField(Grower, on_delete=models.CASCADE)
    text = models.CharField(max_length=50)

    class Meta:
        app_label = "teashop"


@dataclass(frozen=True, slots=True)
class Steep:
    """No model: a plain class."""

    minutes: float
    notes: tuple[str, ...] = ()
