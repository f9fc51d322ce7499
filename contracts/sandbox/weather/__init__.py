"""Weather: the environments a faithful service may have to live in, each by its name.

A weather never changes what the service does, only what happens to a request or an answer on its way: it comes late,
broken, not at all, or something else stands in its place. ``ALL`` holds each by name; ``chosen_weather`` reads what the
command line asks for. The faithful code knows nothing of this package.
"""

from contracts.sandbox.weather.kinds import ALL, ChosenWeather, chosen_weather, help_text, table

__all__ = ["ALL", "ChosenWeather", "chosen_weather", "help_text", "table"]
