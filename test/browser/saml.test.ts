import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SamlIdentityProvider } from "@xo-server/xo-server/saml-identity-provider";
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test(
  "SAML is set up, and a user signs in with it",
  { skip, ...LIMIT },
  async (t) => {
    const { admin, url } = await startStorageBench(t);
    const provider = SamlIdentityProvider.create();
    const signOnUrl = await startSignOn(t, provider);
    const browser = await openBrowser(t);
    const path = "/settings/sign-in";
    const { cookie } = admin;
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path,
      cookie,
    });
    const card = page.getByRole("region", { name: "SAML" });
    await card.getByLabel("Single sign-on URL").fill(signOnUrl);
    await card
      .getByLabel("Entity ID of the identity provider")
      .fill(provider.entityId);
    await card.getByLabel("Signing certificate").fill("MIIC");
    await card.getByLabel("Label of the sign-in button").fill("Example SSO");
    await card.getByRole("button", { name: "Save" }).click();
    await card.getByText(/no certificate in PEM format/).waitFor();
    await card.getByLabel("Signing certificate").fill(provider.certificate);
    await card.getByText(`${url}/signin/saml/callback`).waitFor();
    await checkViews(t, page, "saml");
    await card.getByRole("button", { name: "Save" }).click();
    await page.getByText("SAML saved and applied.").waitFor();
    await card.getByRole("link", { name: "Metadata of this server" }).waitFor();

    const visitor = await openPage(t, { browser, url, path: "/", cookie: "" });
    await visitor.page.getByText("Example SSO").first().click();
    await visitor.page.getByRole("button", { name: "ada" }).waitFor();
    t.equal(new URL(visitor.page.url()).origin, url);

    await card.getByRole("button", { name: "Delete" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: "Delete" })
      .click();
    await card.getByText("Not configured").waitFor();
    t.same(consoleErrors, []);
    t.same(visitor.consoleErrors, []);
  },
);

/** A page that posts the response at once, on another site (localhost, not 127.0.0.1). @returns its URL */
async function startSignOn(
  t: Test,
  provider: SamlIdentityProvider,
): Promise<string> {
  const server = createServer((request, response) => {
    const location = `http://localhost${request.url}`;
    const { callback, ...form } = provider.answer(location);
    const inputs = Object.entries(form).map(
      ([name, value]) =>
        `<input type="hidden" name="${name}" value="${value}">`,
    );
    response.setHeader("content-type", "text/html");
    response.end(
      `<form method="post" action="${callback}">${inputs.join("")}</form><script>document.forms[0].submit()</script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return `http://localhost:${port}/sso`;
}
