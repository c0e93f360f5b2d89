import type { OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import { assertDriver } from "./sr.js";
import { mapParam, textParam } from "../../records/fields.js";

/** The result of probing storage that is not an SR yet. */
export const srProbeOperations: OperationTable = {
  "SR.probe": ({ db }, params) => {
    db.get("host", textParam(params, 0));
    const device = mapParam(params, 1) as Readonly<Record<string, string>>;
    switch (textParam(params, 2)) {
      case "nfs":
        return probeNfs(device);
      case "lvmoiscsi":
        return probeIscsi(device);
      default:
        assertDriver({ db }, textParam(params, 2));
        return NO_SR;
    }
  },
};

const HEAD = '<?xml version="1.0" ?>\n';
const NO_SR = `${HEAD}<SRlist>\n</SRlist>\n`;

type Device = Readonly<Record<string, string>>;

/** A driver reports the possible values of a missing parameter in its error. */
function probeNfs({ server, serverpath }: Device): string {
  if (server === undefined)
    throw backendFailure(90, "The server is missing", "");
  if (serverpath !== undefined) return NO_SR;
  throw backendFailure(
    101,
    "The request is missing the serverpath parameter",
    list("nfs-exports", "Export", [
      { Target: server, Path: "/export/xcp", Accesslist: "*" },
      { Target: server, Path: "/export/iso", Accesslist: "192.0.2.0/24" },
    ]),
  );
}

function probeIscsi({ target, targetIQN, SCSIid }: Device): string {
  if (target === undefined)
    throw backendFailure(90, "The target is missing", "");
  if (targetIQN === undefined)
    throw backendFailure(
      96,
      "The request is missing or has an incorrect target IQN parameter",
      list("iscsi-target-iqns", "TGT", [
        { Index: "0", IPAddress: target, TargetIQN: IQN },
      ]),
    );
  if (SCSIid !== undefined) return NO_SR;
  throw backendFailure(
    107,
    "The SCSIid parameter is missing or incorrect",
    list("iscsi-target", "LUN", [
      {
        vendor: "EXAMPLE",
        serial: "S0001",
        LUNid: "0",
        size: String(2 ** 40),
        SCSIid: "36001405example0001",
      },
    ]),
  );
}

const IQN = "iqn.2001-05.com.example:storage";

function list(name: string, element: string, rows: readonly Device[]): string {
  const members = (row: Device) =>
    Object.entries(row)
      .map(([tag, value]) => `\t\t<${tag}>\n\t\t\t${value}\n\t\t</${tag}>\n`)
      .join("");
  const items = rows.map(
    (row) => `\t<${element}>\n${members(row)}\t</${element}>\n`,
  );
  return `${HEAD}<${name}>\n${items.join("")}</${name}>\n`;
}

function backendFailure(
  code: number,
  reason: string,
  xml: string,
): XapiFailure {
  return new XapiFailure(`SR_BACKEND_FAILURE_${code}`, ["", reason, xml]);
}
