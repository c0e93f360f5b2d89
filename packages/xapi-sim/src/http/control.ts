import type { Socket } from "node:net";
import {
  faultNames,
  type FaultName,
  type FaultSetting,
  type Faults,
} from "../faults/transport-faults.js";
import type { LoggedCall } from "../calls/call-log.js";
import type { Loss } from "../operations/host/host-availability.js";
import type {
  InjectedError,
  InjectedErrors,
} from "../faults/injected-errors.js";
import { bootFaults, type BootFault } from "../updates/host-updates.js";
import type { UpdatePackage } from "../updates/update-package.js";
import type { GuestWriters } from "../guests/guest-writers.js";
import type { WriteProgram } from "../guests/write-programs.js";
import type { FaultyWriter } from "./faulty-writer.js";
import { writeChunks } from "./body-writer.js";
import { bodyLength, headText } from "./reply.js";
import type { RequestHead } from "./request-head.js";
import type { SocketReader } from "./socket-reader.js";

/** What can be controlled from outside while the pool runs. */
export interface Control {
  readonly faults: Faults;
  readonly injectedErrors: InjectedErrors;
  /** Makes the next member with a listener (or the named one) the coordinator. */
  promote(hostRef?: string): string;
  /** Starts XAPI of the coordinator again. */
  restartXapi(): void;
  /**
   * Rewinds the database by a number of changes, as if restored from a backup.
   */
  rewind(generations: number): void;
  /** A host is down for a duration, or permanently. */
  lose(hostRef: string, loss: Loss): void;
  /** A host fails and stays offline, or is online again, without VMs. */
  killHost(hostRef: string): void;
  reviveHost(hostRef: string): void;
  /** Sets the fault of a host at its next boot. */
  failBoot(hostRef: string, fault: BootFault): void;
  /** The repositories contain these packages from now on. */
  publishUpdates(packages: readonly UpdatePackage[]): void;
  /** Cores that a VM uses from now on. */
  setLoad(vmRef: string, cores: number): void;
  /** Changes a second from now on. */
  setChurn(perSecond: number): void;
  readonly guests: GuestWriters;
  calls(): readonly LoggedCall[];
  status(): object;
}

/** A control message cannot need more. */
const MAX_BODY_BYTES = 64 * 1024;
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/**
 * The simulator's own paths, open to the loopback only and not affected by faults:
 *
 *   GET  /sim           what runs, with which faults
 *   GET  /sim/calls     the operations that were called, in order: [{"at", "method", "object", "marks"}]
 *   POST /sim/faults    {"delay": 500, "cut": {"value": 1000, "method": "VM.get_all_records", "times": 1}, "trickle": false}
 *                       bodies of transfers: {"pause": {"value": 60000, "after": 1e6, "method": "http/get_export_raw_vdi"}}
 *   POST /sim/promote   {} or {"host": "OpaqueRef:..."}
 *   POST /sim/restart   {}: XAPI of the coordinator
 *   POST /sim/rewind    {"generations": 1000}
 *   POST /sim/churn     {"perSecond": 100}
 *   POST /sim/lose      {"host": "OpaqueRef:...", "crash": true, "backAfter": 60000}
 *   POST /sim/kill      {"host": "OpaqueRef:..."}, and /sim/revive
 *   POST /sim/boot      {"host": "OpaqueRef:...", "fault": "never"}: at its next boot; or disabled, unplugged, old-version
 *   POST /sim/updates   {"packages": [{"name": "xen-hypervisor", ...}]}: the contents of the repositories
 *   POST /sim/load      {"vm": "OpaqueRef:...", "cores": 3.5}
 *   POST /sim/write     {"vdi": reference or uuid, "pattern": "random" | "sequential" | "filesystem", "bytes": 1048576, "seed": 1}
 *   POST /sim/guests    {"bytesPerSecond": 65536}: what running guests write by themselves
 *   POST /sim/fail      {"method": "VM.start", "error": "SR_FULL", "params": ["1", "0"]}: the next call, once;
 *                       more of it in injected-errors.ts; {"clear": true} removes those that wait
 */
export async function serveControl(
  control: Control,
  head: RequestHead,
  io: {
    readonly reader: SocketReader;
    readonly writer: FaultyWriter;
    readonly socket: Socket;
  },
): Promise<boolean> {
  const length = head.contentLength ?? 0;
  const local = LOOPBACK.test(io.socket.remoteAddress ?? "");
  if (!local || length > MAX_BODY_BYTES)
    return answer(io.socket, head, 403, { error: "not from here" });
  const body = await io.reader.bytes(length);
  try {
    const text = body?.toString() ?? "";
    const message = (text === "" ? {} : JSON.parse(text)) as Message;
    const result = await applyControl(control, head.path, message);
    return await answer(io.socket, head, 200, result ?? control.status());
  } catch (error) {
    return answer(io.socket, head, 400, { error: (error as Error).message });
  }
}

type Message = Readonly<Record<string, unknown>>;

/** @returns what is answered instead of the status */
async function applyControl(
  control: Control,
  path: string,
  message: Message,
): Promise<object | undefined> {
  switch (path) {
    case "/sim/faults":
      for (const [name, setting] of Object.entries(message))
        setFault(control.faults, name, setting);
      break;
    case "/sim/promote":
      control.promote(message["host"] as string | undefined);
      break;
    case "/sim/restart":
      control.restartXapi();
      break;
    case "/sim/rewind":
      control.rewind(Number(message["generations"] ?? 1000));
      break;
    case "/sim/churn":
      control.setChurn(Number(message["perSecond"] ?? 0));
      break;
    case "/sim/fail":
      if (message["clear"] === true) control.injectedErrors.clear();
      else control.injectedErrors.add(readInjectedError(message));
      break;
    case "/sim/lose":
      control.lose(String(message["host"]), {
        crash: message["crash"] === true,
        ...(message["backAfter"] === undefined
          ? {}
          : { backAfter: Number(message["backAfter"]) }),
      });
      break;
    case "/sim/kill":
      control.killHost(String(message["host"]));
      break;
    case "/sim/revive":
      control.reviveHost(String(message["host"]));
      break;
    case "/sim/boot":
      if (!bootFaults.includes(message["fault"] as BootFault))
        throw new Error(`fault: ${bootFaults.join(", ")}`);
      control.failBoot(String(message["host"]), message["fault"] as BootFault);
      break;
    case "/sim/updates":
      control.publishUpdates(message["packages"] as readonly UpdatePackage[]);
      break;
    case "/sim/load":
      control.setLoad(String(message["vm"]), Number(message["cores"]));
      break;
    case "/sim/write":
      return control.guests.write(
        String(message["vdi"]),
        message as unknown as WriteProgram,
      );
    case "/sim/guests":
      control.guests.setRate(Number(message["bytesPerSecond"]));
      break;
    case "/sim/calls":
      return control.calls();
    case "/sim":
      break;
    default:
      throw new Error(`nothing at ${path}`);
  }
  return undefined;
}

function setFault(faults: Faults, name: string, setting: unknown): void {
  if (!faultNames.includes(name as FaultName))
    throw new Error(`no fault ${name}; there are ${faultNames.join(", ")}`);
  const isSetting =
    typeof setting === "boolean" ||
    typeof setting === "number" ||
    (typeof setting === "object" && setting !== null && "value" in setting);
  if (!isSetting)
    throw new Error(`${name}: true, false, a number or {"value": ...}`);
  faults.set(name as FaultName, setting as FaultSetting | number | boolean);
}

function readInjectedError(message: Message): InjectedError {
  const isText = (value: unknown) => typeof value === "string";
  const { method, error, params = [], delayMs, times, when, object } = message;
  const isCount = (value: unknown) =>
    value === undefined || (Number.isInteger(value) && Number(value) >= 0);
  const fits =
    isText(method) &&
    (isText(error) || (error === undefined && delayMs !== undefined)) &&
    Array.isArray(params) &&
    params.every(isText) &&
    isCount(delayMs) &&
    isCount(times) &&
    (when === undefined || when === "start" || when === "work") &&
    (object === undefined || isText(object));
  if (!fits)
    throw new Error(
      'a failure is {"method", "error", "params", "delayMs", "times", "when", "object"}',
    );
  return message as unknown as InjectedError;
}

async function answer(
  socket: Socket,
  head: RequestHead,
  status: number,
  value: object,
): Promise<boolean> {
  const body = `${JSON.stringify(value)}\n`;
  const text = headText(head.version, status, [
    ["content-length", String(bodyLength([body]))],
    ["connection", head.keepAlive ? "keep-alive" : "close"],
    ["content-type", "application/json"],
  ]);
  return (await writeChunks(socket, [text, body])) && head.keepAlive;
}
