"""The OpenAPI description and a Swagger UI, all from local files, without any request to the outside."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from contracts.sandbox.refusals import not_found

FILES = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "favicon-32x32.png": "image/png",
}

_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
"""Has the browser refuse any request to the outside."""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Document registry: the sandbox</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""

_START = """window.onload = () => SwaggerUIBundle({
  url: "/docs/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null
});
"""


class DocsPage:
    """Answers the description and the page that shows it."""

    async def description_json(self, request: Request) -> Response:
        """Answer the OpenAPI description as JSON."""
        return JSONResponse(described(request))

    async def description_yaml(self, request: Request) -> Response:
        """Answer the OpenAPI description as YAML."""
        import yaml  # noqa: PLC0415 - only needed here

        text = yaml.safe_dump(described(request), sort_keys=False, allow_unicode=True)
        return Response(text, media_type="application/yaml")

    async def page(self, _request: Request) -> Response:
        """Answer the page that shows the description."""
        return Response(_PAGE, media_type="text/html", headers={"Content-Security-Policy": _POLICY})

    async def file(self, request: Request) -> Response:
        """Answer one of the page's files."""
        name = request.path_params["name"]
        if name == "start.js":
            return Response(_START, media_type="text/javascript")
        if name == "openapi.json":
            return JSONResponse(labelled_for_the_page(described(request)))
        if name not in FILES:
            raise not_found("the page has no such file")
        return FileResponse(_folder() / name, media_type=FILES[name])


def described(request: Request) -> dict[str, Any]:
    """Return the description, with this sandbox as its server."""
    from contracts.interface.description import load_description  # noqa: PLC0415 - read when first asked for

    address = str(request.base_url).rstrip("/")
    return {**load_description().bundle, "servers": [{"url": address, "description": "This sandbox."}]}


def labelled_for_the_page(description: dict[str, Any]) -> dict[str, Any]:
    """Return the description under the label 3.0.3.

    The bundled Swagger UI (4.15) shows 3.0 only and refuses any other label. What the description uses of 3.1
    beyond 3.0 is a word beside a reference here and there, which the page leaves out.
    """
    information = {name: value for name, value in description["info"].items() if name != "summary"}
    return {**description, "openapi": "3.0.3", "info": information}


@cache
def _folder() -> Path:
    return next(Path(str(files("swagger_ui_bundle"))).glob("vendor/swagger-ui-*"))
