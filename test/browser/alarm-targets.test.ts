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

t.test(
  "an alarm rule notifies chat services",
  { skip, ...LIMIT },
  async (t) => {
    const { admin, url } = await startStorageBench(t);
    const chat = await startChatService(t);
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: "/settings/alarms",
      cookie: admin.cookie,
    });
    await page.getByRole("button", { name: "Add rule" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("CPU");
    await dialog.getByRole("button", { name: "Slack" }).click();
    await dialog.getByLabel("Webhook URL of Slack").fill(`${chat.url}/hush`);
    await dialog.getByLabel("Label").fill("#operations");
    await dialog.getByRole("button", { name: "Send test message" }).click();
    await dialog.getByText("Test message sent.").waitFor();
    t.match(chat.received[0], "TEST: CPU");

    await dialog.locator("summary").click();
    await dialog.getByText("[warning] CPU: example").first().waitFor();
    await checkViews(t, page, "the form of a rule");
    await dialog.getByRole("radio", { name: "Microsoft Teams" }).check({
      force: true,
    });
    await dialog.getByText('"AdaptiveCard"').waitFor();
    await dialog.getByLabel("Event").selectOption({ label: "Alarm cleared" });
    await dialog.getByText("RESOLVED: CPU: example").first().waitFor();

    await dialog.getByRole("button", { name: "Save" }).click();
    const row = page.getByRole("row").filter({ hasText: "#operations" });
    await row.waitFor();
    await row
      .getByRole("button", { name: "Actions for CPU", exact: true })
      .click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await dialog.getByText("A URL is stored.").waitFor();
    t.notMatch(await page.content(), "hush");
    await dialog.getByRole("button", { name: "Send test message" }).click();
    await dialog.getByText("Test message sent.").waitFor();
    t.equal(chat.received.length, 2);

    for (const [service, field] of [
      ["Microsoft Teams", "Webhook URL of Microsoft Teams"],
      ["Mattermost", "Webhook URL of Mattermost"],
      ["ntfy", "URL of the topic"],
    ] as const) {
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Add rule" }).click();
      await dialog.getByLabel("Name", { exact: true }).fill(service);
      await dialog.getByRole("button", { name: service }).click();
      await dialog.getByLabel(field).fill(`${chat.url}/topic`);
      await dialog.getByRole("button", { name: "Send test message" }).click();
      await dialog.getByText("Test message sent.").waitFor();
      // Mattermost gets the colon escaped: its text is Markdown.
      t.match(chat.received.at(-1)?.replaceAll("\\", ""), `TEST: ${service}`);
    }
    t.equal(chat.received.length, 5);
    t.same(consoleErrors, []);
  },
);

/** Records the bodies of all posts. */
async function startChatService(t: Test) {
  const received: string[] = [];
  const server = createServer((request, answer) => {
    request.setEncoding("utf8");
    let text = "";
    request.on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      received.push(text);
      answer.end("ok");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received };
}
