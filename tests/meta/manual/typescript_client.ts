// A small program of somebody who consumes the registry: it saves a draft, attaches a file, finds both, and removes
// the draft. Its types and its client come from the OpenAPI description alone.
//
//   node program.js BASE_URL [mistaken]
//
// `mistaken` saves the draft under a uid of ten characters first, as a program with a bug would.
import { randomBytes } from "node:crypto";
import createClient from "openapi-fetch";
import type { paths } from "./registry.js";

const [baseUrl, mistaken] = process.argv.slice(2);
const realm = { Realm: "abs-dev" } as const;
const registry = createClient<paths>({ baseUrl });

/** The content of an answer; the program ends with its status where it is a refusal. */
function done<T>(what: string, answer: { data?: T; response: Response }): T {
  if (!answer.response.ok) {
    console.error(`${what}: ${answer.response.status}`);
    process.exit(1);
  }
  return answer.data as T;
}

const { authenticationToken } = done(
  "createToken",
  await registry.POST("/api/v2013/authentication/token", {
    body: { email: "author@sandbox.test", password: "sandbox-author" },
  }),
);
registry.use({
  onRequest: ({ request }) => request.headers.set("Authorization", `Bearer ${authenticationToken}`),
});

const draft = "/api/v2013/documents/{uid}/versions/draft" as const;
const document = (uid: string) => ({
  header: { identifier: uid, schema: "contact", languages: ["en"] },
  firstName: "Zoë",
  lastName: "Ndiaye",
  emails: ["zoe.ndiaye@office.example"],
});
const save = (uid: string) =>
  registry.PUT(draft, {
    params: { path: { uid }, query: { schema: "contact" }, header: realm },
    body: document(uid),
  });

if (mistaken) {
  const { response } = await save("ten-letter");
  console.log(`a uid of ten characters: ${response.status}`);
}

const uid = `foreign-${randomBytes(8).toString("hex")}`;
done("saveDraft", await save(uid));
const read = done("getDraft", await registry.GET(draft, { params: { path: { uid }, header: realm } }));
done("draftExists", await registry.HEAD(draft, { params: { path: { uid }, header: realm } }));
done(
  "getDraftInfo",
  await registry.GET("/api/v2013/documents/{uid}/versions/draft/info", { params: { path: { uid }, header: realm } }),
);
done(
  "listDrafts",
  await registry.GET("/api/v2013/document-drafts", {
    params: { query: { collection: "mydrafts", $top: "5", $filter: "schema eq 'contact'" }, header: realm },
  }),
);

const attachments = "/api/v2013/documents/{uid}/attachments" as const;
done(
  "createAttachment",
  await registry.POST(`${attachments}/{filename}`, {
    params: { path: { uid, filename: "note über alles.txt" } },
    body: "Grüße\n",
    bodySerializer: (text) => new TextEncoder().encode(text),
    headers: { "Content-Type": "application/octet-stream" },
  }),
);
done("listAttachments", await registry.GET(attachments, { params: { path: { uid }, query: { top: "10" } } }));
done("deleteDraft", await registry.DELETE(draft, { params: { path: { uid }, header: realm } }));
const { response: gone } = await registry.GET(draft, { params: { path: { uid }, header: realm } });
console.log(`read back: ${JSON.stringify(read).includes("Zoë")}; gone afterwards: ${gone.status >= 400}`);
