import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("identity providers are set up", { skip, ...LIMIT }, async (t) => {
  const { admin, url } = await startStorageBench(t);
  const issuer = await startProvider(t);
  const browser = await openBrowser(t);
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: "/settings/sign-in",
    cookie: admin.cookie,
  });
  const oidc = page.getByRole("region", { name: "OpenID Connect" });
  await oidc.getByLabel("Issuer URL").fill(issuer);
  await oidc.getByLabel("Client ID").fill("xo-server");
  await oidc.getByLabel("Client secret").fill("hush");
  await oidc.getByLabel("Label of the sign-in button").fill("Example ID");
  await oidc.getByRole("button", { name: "Check provider" }).click();
  await oidc.getByText(`The provider ${issuer} was found.`).waitFor();
  await checkViews(t, page, "sign-in");
  await oidc.getByRole("button", { name: "Save" }).click();
  await page.getByText("OpenID Connect saved and applied.").waitFor();
  await oidc.getByText("A secret is stored.").waitFor();
  t.notMatch(await page.content(), "hush");

  const visitor = await openPage(t, { browser, url, path: "/", cookie: "" });
  await visitor.page.getByText("Example ID").first().waitFor();

  const ldap = page.getByRole("region", { name: "LDAP" });
  await ldap.getByLabel("Servers").fill("ldap://127.0.0.1:1");
  await ldap.getByLabel("Base DN of users").fill("dc=example");
  await ldap.getByLabel("User name for the test").fill("ada");
  await ldap.getByRole("button", { name: "Test", exact: true }).click();
  await ldap.locator(".note.bad", { hasText: "ECONNREFUSED" }).waitFor();
  await oidc.getByRole("button", { name: "Delete" }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: "Delete" })
    .click();
  await oidc.getByText("Not configured").waitFor();
  t.same(consoleErrors, []);
});

/** A discovery document, which is all that the check reads. */
async function startProvider(t: Test): Promise<string> {
  let issuer = "";
  const server = createServer((_request, answer) => {
    answer.setHeader("content-type", "application/json");
    answer.end(
      JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  issuer = `http://127.0.0.1:${port}`;
  return issuer;
}
