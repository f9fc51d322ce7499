// Shows the description, signed in as the author.
window.onload = () => {
  const author = { email: "author@sandbox.test", password: "sandbox-author" };
  const page = SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#swagger-ui",
    deepLinking: true,
    validatorUrl: null,
    onComplete: async () => {
      const answer = await fetch("/api/v2013/authentication/token", {
        method: "POST",
        headers: {"Accept": "application/json", "Content-Type": "application/json"},
        body: JSON.stringify(author)
      });
      // A sandbox that answers otherwise, by a fault or in bad weather, is left to the reader to sign in at.
      const token = answer.ok ? await answer.json().catch(() => null) : null;
      if (token && token.authenticationToken) page.preauthorizeApiKey("bearer", token.authenticationToken);
    }
  });
};
