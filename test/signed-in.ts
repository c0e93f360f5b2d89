import type { Test } from "tap";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

const PASSWORD = "correct horse battery";

/** A server with one simulated pool, and its admin. */
export interface SignedIn {
  /** @param path under /rest/v0 */
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  /** The JSON of the response. @throws unless the status is a success */
  readonly read: (path: string) => Promise<unknown>;
  /** The task of an action, after it has ended. */
  readonly act: (path: string, body?: object) => Promise<EndedTask>;
}

export interface EndedTask {
  readonly status: string;
  readonly result?: { readonly message?: string; readonly code?: string };
  readonly tasks?: readonly { readonly properties: { name: string } }[];
}

/** @param pool options of the simulator */
export async function signIn(t: Test, ...pool: string[]): Promise<SignedIn> {
  const [simulated] = await simulate(t, ...pool);
  const cwd = t.testdir({
    "config.yaml": `pools: [{ label: P, hosts: ["${simulated!.url}"], password: ${simulated!.password} }]`,
  });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, url, PASSWORD);
  await page.until(({ pools }) => pools["p"]?.state === "watching");
  const login = await fetch(`${url}/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: PASSWORD }),
  });
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
  const headers = { cookie, "content-type": "application/json" };
  const request: SignedIn["request"] = (path, init) =>
    fetch(`${url}/rest/v0${path}`, { ...init, headers });
  const read: SignedIn["read"] = async (path) => {
    const answer = await request(path);
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  };
  return {
    request,
    read,
    async act(path, body = {}) {
      const begun = await request(path, {
        method: "POST",
        body: JSON.stringify(body),
      });
      const text = await begun.text();
      if (begun.status !== 202) throw new Error(`${path}: ${text}`);
      const { taskId } = JSON.parse(text) as { taskId: string };
      return (await read(`/tasks/${taskId}?wait=true`)) as EndedTask;
    },
  };
}
