// Swagger UI whose requests go through the proxy as the chosen role and realm, beside the list of what passes.

const KEY = document.querySelector('meta[name="key"]').content;
const EVERY = 500; // milliseconds between two looks for what passed
const MOST = 500;
const counts = {};
let last = 0;
let ui;

const by = (id) => document.getElementById(id);

function el(name, attributes, ...children) {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...children.filter((child) => child !== ""));
  return element;
}

function say(text, wrong = false) {
  by("message").textContent = text;
  by("message").classList.toggle("wrong", wrong);
}

async function ask(path, method = "GET") {
  const answer = await fetch(path, { method, headers: { "X-Page-Key": KEY } });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error);
  return content;
}

/** Have requests carry the token of the chosen role; the page holds a word in its place. */
function carryToken() {
  const role = by("role").value;
  if (ui.authSelectors.authorized()?.has("bearer")) ui.authActions.logout(["bearer"]); // which fails before the first
  if (role !== "anonymous") ui.preauthorizeApiKey("bearer", `$${role.toUpperCase()}_TOKEN`);
  say(role === "anonymous" ? "requests carry no token" : `${role} signs in when a request needs it`);
  return role;
}

/** Sign in as the chosen role, anew where it was signed in before. */
async function chooseRole() {
  const role = carryToken();
  if (role === "anonymous") return;
  say(`signing in as ${role} …`);
  try {
    const { until } = await ask(`/page/sign-in/${role}`, "POST");
    say(`signed in as ${role}${until ? ` until ${until}` : ""}`);
  } catch (error) {
    say(error.message, true);
  }
}

/** Put the chosen realm into the header of every operation that lists it, also where another was written by hand. */
function chooseRealm() {
  const spec = ui.specSelectors.specJsonWithResolvedSubtrees();
  for (const [path, methods] of spec.get("paths").entries())
    for (const method of methods.keys())
      for (const listed of methods.getIn([method, "parameters"]) ?? []) {
        const reference = listed.get("$ref"); // until an operation is first opened
        const parameter = reference ? spec.getIn(reference.slice(2).split("/")) : listed;
        if (parameter.get("name") === "Realm" && parameter.get("in") === "header") {
          ui.specActions.changeParam([path, method], "Realm", "header", by("realm").value, false);
          ui.specActions.changeParamByIdentity([path, method], parameter, by("realm").value, false);
        }
      }
}

function row(passed) {
  const findings = passed.findings.map((finding) =>
    el(
      "li",
      {},
      el("b", {}, finding.what),
      ` (${[finding.side, finding.level, finding.standing].filter(Boolean).join(", ")}) `,
      finding.wording,
      el("br"),
      `expected ${finding.expected}`,
      el("br"),
      `seen ${finding.seen}`,
    ),
  );
  const found = passed.findings.map((finding) => finding.what);
  const clauses = [...new Set(found.length ? found : passed.fault ? [passed.fault] : passed.held)].join(", ");
  const summary = [passed.number, passed.status ?? "none", passed.operation || "no operation", passed.realm, passed.role, "", clauses].map((text) => el("span", { title: String(text) }, String(text)));
  summary[5].append(el("b", { className: `verdict ${passed.verdict}` }, passed.verdict));
  return el(
    "li",
    {},
    el(
      "details",
      {},
      el("summary", {}, ...summary),
      el("code", {}, passed.request),
      findings.length ? el("ul", {}, ...findings) : "",
      passed.held.length ? el("p", {}, `held: ${passed.held.join(", ")}`) : "",
    ),
  );
}

async function look() {
  try {
    for (const passed of await ask(`/page/exchanges/${last}`)) {
      last = passed.number;
      counts[passed.verdict] = (counts[passed.verdict] ?? 0) + 1;
      by("rows").prepend(row(passed));
      while (by("rows").children.length > MOST) by("rows").lastChild.remove();
      by("counted").textContent = Object.entries(counts)
        .map(([verdict, times]) => `${times} ${verdict}`)
        .join(", ");
    }
  } catch (error) {
    say(`what passes is not known: ${error.message}`, true);
  }
  setTimeout(look, EVERY);
}

async function start() {
  const { target, proxy, realms, roles, description } = await ask("/page/start");
  by("target").textContent = target;
  by("proxy").textContent = proxy;
  for (const [role, missing] of Object.entries(roles)) by("role").append(el("option", { value: role, disabled: Boolean(missing), title: missing ?? "" }, role));
  by("role").value = Object.keys(roles).find((role) => !roles[role]);
  by("realm").append(...realms.map((realm) => el("option", { value: realm }, realm)), el("option", { value: "" }, "none"));
  ui = SwaggerUIBundle({
    spec: description,
    dom_id: "#swagger-ui",
    tryItOutEnabled: true,
    docExpansion: "list",
    defaultModelsExpandDepth: -1,
    validatorUrl: null,
    // What is shown, and copied as curl, is the request to the proxy.
    showMutatedRequest: false,
    requestInterceptor: (request) => {
      request.url = request.url.replace(proxy, location.origin);
      request.headers["X-Page-Key"] = KEY;
      return request;
    },
    onComplete: () => {
      by("role").addEventListener("change", chooseRole);
      by("realm").addEventListener("change", chooseRealm);
      carryToken();
      chooseRealm();
      document.body.dataset.ready = "yes";
    },
  });
  look();
}

start().catch((error) => say(error.message, true));
