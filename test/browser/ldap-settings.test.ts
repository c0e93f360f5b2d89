import { SERVICE_PASSWORD, skipLdap, Slapd } from "@xo-server/xo-server/slapd";
import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? skipLdap;

t.test(
  "LDAP is set up on the page, and a user of the directory signs in",
  { skip, ...LIMIT },
  async (t) => {
    const slapd = await Slapd.start();
    t.teardown(() => slapd.remove());
    const { admin, url } = await startStorageBench(t);
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: "/settings/sign-in",
      cookie: admin.cookie,
    });
    const ldap = page.getByRole("region", { name: "LDAP" });
    await ldap.getByLabel("Servers").fill(slapd.url);
    await ldap.getByLabel("Bind DN").fill("cn=service,dc=example");
    await ldap.getByLabel("Bind password").fill(SERVICE_PASSWORD);
    await ldap.getByLabel("STARTTLS").uncheck();
    await ldap.getByLabel("Base DN of users").fill("ou=people,dc=example");
    await ldap.getByLabel("Base DN of groups").fill("ou=groups,dc=example");
    await ldap.getByLabel("Group of administrators").fill("bosses");

    await ldap.getByLabel("User name for the test").fill("ada");
    await ldap.getByLabel("Password for the test").fill("ada-secret");
    const tryIt = ldap.getByRole("button", { name: "Test", exact: true });
    await tryIt.click();
    await ldap.getByText("Sign-in of ada succeeded.").waitFor();
    // In the order of the directory.
    for (const name of ["operators", "local", "bosses"])
      await ldap.getByText(new RegExp(`^Groups: .*${name}`)).waitFor();
    await ldap.getByText("The user would be an administrator.").waitFor();
    await ldap.getByLabel("Password for the test").fill("wrong");
    await tryIt.click();
    await ldap.getByText("but the password was rejected").waitFor();
    await ldap.getByRole("button", { name: "Save" }).click();
    await page.getByText("LDAP saved and applied.").waitFor();
    await ldap.getByText("A secret is stored.").waitFor();
    t.notMatch(await page.content(), SERVICE_PASSWORD);

    const visitor = await openPage(t, { browser, url, path: "/", cookie: "" });
    await visitor.page.getByRole("button", { name: "Sign in" }).first().click();
    const form = visitor.page;
    await form.getByLabel("User name or e-mail").fill("ada");
    await form.getByLabel("Password").fill("ada-secret");
    await form.keyboard.press("Enter");
    await form.getByRole("button", { name: "ada: account" }).waitFor();
    const users = await admin.request<readonly object[]>("user.getAll");
    t.match(
      users.find((user) => "email" in user && user.email === "ada"),
      { permission: "admin" },
      "an administrator, by the group",
    );
    t.same(consoleErrors, []);
    t.same(visitor.consoleErrors, []);
  },
);
