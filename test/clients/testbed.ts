import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Test } from "tap";
import { RunningProgram } from "../running-program.js";
import { simulate, type Simulated } from "../simulated.js";

/** Folder in which get-clients.sh installs foreign clients. */
const CLIENTS =
  process.env["XO_CLIENTS"] ?? join(homedir(), ".cache", "xo-clients");

/** A file of a client. */
export function clientFile(...path: readonly string[]): string {
  return join(CLIENTS, ...path);
}

/** For `skip`: the reason if a client is not installed. */
export function missing(...path: readonly string[]): string | false {
  if (existsSync(clientFile(...path))) return false;
  const failed = clientFile(`${path[0]}.failed`);
  const reason = existsSync(failed)
    ? readFileSync(failed, "utf8").trim()
    : "test/clients/get-clients.sh installs it";
  return `no ${join(...path)} in $XO_CLIENTS: ${reason}`;
}

/** Pause between two requests that wait for the program, which needs the CPU. */
const POLL_MS = 50;

export const USER = "admin";
export const PASSWORD = "correct horse battery";

/** Our server with one simulated pool, as programs in processes of their own. */
export interface Testbed {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly server: RunningProgram;
  /** A token of the user. */
  readonly token: string;
  /** A folder to work in. */
  readonly folder: string;
  /** Uuid of TEMPLATE. */
  readonly template: string;
}

/** A template with disks and an interface, as administrators create them; VMs created from it get an address. */
export const TEMPLATE = "Template of a guest";

export async function startTestbed(t: Test): Promise<Testbed> {
  const [pool] = await simulate(t, "--members", "2");
  const template = await makeTemplate(pool!);
  const folder = await mkdtemp(join(tmpdir(), "xo-clients-"));
  // After the programs were killed: CI once saw that tap's removal met a file that had just been written.
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const cwd = join(folder, "server");
  for (const path of [cwd, join(folder, "client")]) mkdirSync(path);
  const line = `{ label: C, hosts: ["${pool!.url}"], password: ${pool!.password} }`;
  writeFileSync(join(cwd, "config.yaml"), `pools: [${line}]\n`, {
    mode: 0o600,
  });
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--host", "127.0.0.1", "--port", "0"],
    { cwd, env: { XO_ADMIN_PASSWORD: PASSWORD } },
  );
  const url = await server.find(/Web server listening on (http:\S+)/);
  const token = await createToken(url);
  const headers = { cookie: `authenticationToken=${token}` };
  // It is listed last, with the other VMs.
  const isListed = async () =>
    (await fetch(`${url}/rest/v0/vm-templates/${template}`, { headers })).ok;
  while (!(await isListed())) await setTimeout(POLL_MS);
  return { url, server, token, folder: join(folder, "client"), template };
}

async function createToken(url: string): Promise<string> {
  const basic = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");
  const answer = await fetch(`${url}/rest/v0/users/me/authentication_tokens`, {
    method: "POST",
    headers: {
      authorization: `Basic ${basic}`,
      "content-type": "application/json",
    },
    body: "{}",
  });
  const { token } = (await answer.json()) as { token: { id: string } };
  return token.id;
}

interface Guest {
  readonly power_state: string;
  readonly is_a_template: boolean;
  readonly VBDs: readonly string[];
  readonly tags: readonly string[];
  readonly other_config: Readonly<Record<string, string>>;
}

/** A VBD. */
interface Place {
  readonly type: string;
  readonly VM: string;
  readonly VDI: string;
  readonly userdevice: string;
  readonly mode: string;
  readonly bootable: boolean;
}

type Call = (method: string, ...params: unknown[]) => Promise<unknown>;

/** Clones a guest that is halted, gives it small disks, and makes it a template. */
async function makeTemplate(pool: Simulated): Promise<string> {
  const call = await signIn(pool);
  const all = (await call("VM.get_all_records")) as Record<string, Guest>;
  const [model, { tags }] = Object.entries(all).find(([, vm]) => isModel(vm))!;
  const template = await call("VM.clone", model, TEMPLATE);
  for (const tag of tags) await call("VM.remove_tags", template, tag);
  for (const vbd of (await call("VM.get_VBDs", template)) as string[])
    await shrink(call, vbd);
  await call("VM.set_is_a_template", template, true);
  return (await call("VM.get_uuid", template)) as string;
}

/** @returns calls in a session of their own */
async function signIn({ url, user, password }: Simulated): Promise<Call> {
  const call: Call = async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await fetch(`${url}/jsonrpc`, { method: "POST", body });
    const { result, error } = (await answer.json()) as {
      result: unknown;
      error?: unknown;
    };
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result;
  };
  const login = [user, password, "2.0", "test"];
  const session = await call("session.login_with_password", ...login);
  return (method, ...params) => call(method, session, ...params);
}

/** Replaces a disk by another one of 10 GiB. */
async function shrink(call: Call, vbd: string): Promise<void> {
  const place = (await call("VBD.get_record", vbd)) as Place;
  if (place.type !== "Disk") return;
  const SR = await call("VDI.get_SR", place.VDI);
  await call("VBD.destroy", vbd);
  await call("VDI.destroy", place.VDI);
  const common = { other_config: {}, type: "user", name_description: "" };
  const VDI = await call("VDI.create", {
    ...common,
    SR,
    name_label: "small",
    virtual_size: 10 * 2 ** 30,
    sharable: false,
    read_only: false,
  });
  const { VM, userdevice, mode, type, bootable } = place;
  await call("VBD.create", {
    VM,
    VDI,
    userdevice,
    mode,
    type,
    bootable,
    empty: false,
    unpluggable: true,
    other_config: {},
    qos_algorithm_type: "",
    qos_algorithm_params: {},
  });
}

function isModel(vm: Guest): boolean {
  return (
    vm.power_state === "Halted" &&
    !vm.is_a_template &&
    vm.VBDs.length > 1 &&
    /^Debian/.test(vm.other_config["base_template_name"] ?? "")
  );
}
