import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import type { Test } from "tap";

export interface FakeVm {
  readonly id: string;
  readonly name: string;
  /** Devices, and other properties, as XML. */
  readonly devices: string;
  readonly snapshot?: string;
  powerState: string;
}

export interface FakeVsphere {
  readonly host: string;
  readonly fingerprint: string;
  readonly vms: FakeVm[];
  /** Files of the datastore by their path, `vm/disk.vmdk`. */
  readonly files: Map<string, Buffer>;
  /** Names of the methods that were called, and files that were read with their ranges. */
  readonly requests: string[];
  /**
   * Of the response to the next read of a file with this name: cut, expired,
   * shifted, or stalled, which does not end.
   */
  readonly faults: Map<string, "cut" | "expired" | "shifted" | "stalled">;
  /** Answers of methods instead of the usual ones. */
  readonly answers: Map<string, string>;
}

const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

/** A vCenter with the answers of govmomi's vcsim v0.37.3, shortened. */
export async function startFakeVsphere(t: Test): Promise<FakeVsphere> {
  const { key, cert, fingerprint } = makeLoopbackCertificate();
  const fake: Omit<FakeVsphere, "host"> = {
    fingerprint,
    vms: [],
    files: new Map(),
    requests: [],
    faults: new Map(),
    answers: new Map(),
  };
  const server = createServer({ key, cert }, (request, response) => {
    void handle(fake, request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { ...fake, host: `127.0.0.1:${port}` };
}

type Fake = Omit<FakeVsphere, "host">;

async function handle(
  fake: Fake,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "", "https://host");
  if (url.pathname !== "/sdk") {
    sendFile(fake, url, request, response);
    return;
  }
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts).toString();
  const [, method = ""] = /<Body><(\w+)/.exec(body) ?? [];
  fake.requests.push(method);
  const isSignedIn = request.headers.cookie === SESSION;
  const answer =
    isSignedIn || OPEN.has(method)
      ? (fake.answers.get(method) ?? answerTo(fake, method, body))
      : fault("The session is not authenticated.");
  response.writeHead(answer.includes("Fault>") ? 500 : 200, {
    "content-type": "text/xml",
    ...(method === "Login" && {
      "set-cookie": `${SESSION}; Path=/; HttpOnly`,
    }),
  });
  response.end(
    `<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" ${XSI}><soapenv:Body>${answer}</soapenv:Body></soapenv:Envelope>`,
  );
}

const SESSION = "vmware_soap_session=secret-session";
const OPEN = new Set(["RetrieveServiceContent", "Login"]);

function fault(text: string): string {
  return `<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>${text}</faultstring></soapenv:Fault>`;
}

function answerTo(fake: Fake, method: string, body: string): string {
  const answer = (content = ""): string =>
    `<${method}Response xmlns="urn:vim25">${content}</${method}Response>`;
  switch (method) {
    case "RetrieveServiceContent":
      return answer(
        `<returnval><rootFolder type="Folder">group-d1</rootFolder><propertyCollector type="PropertyCollector">propertyCollector</propertyCollector><viewManager type="ViewManager">ViewManager</viewManager><sessionManager type="SessionManager">SessionManager</sessionManager></returnval>`,
      );
    case "Login":
      return body.includes("<password>secret&#38;word</password>")
        ? answer("<returnval><key>1</key></returnval>")
        : fault("Login failure");
    case "CreateContainerView":
      return answer(
        '<returnval type="ContainerView">session[1]view</returnval>',
      );
    case "RetrievePropertiesEx":
      return answer(`<returnval>${objectsFor(fake, body)}</returnval>`);
    // Half of the objects come later.
    case "ContinueRetrievePropertiesEx":
      return answer(`<returnval>${placesOf()}</returnval>`);
    case "ShutdownGuest":
      return fault("VMware Tools is not running.");
    case "PowerOffVM_Task": {
      const [, id] = /<_this type="VirtualMachine">([^<]+)/.exec(body)!;
      fake.vms.find((vm) => vm.id === id)!.powerState = "poweredOff";
      return answer('<returnval type="Task">task-1</returnval>');
    }
    default:
      return answer();
  }
}

/** One VM, or the whole inventory in two pages. */
function objectsFor({ vms }: Fake, body: string): string {
  const [, id] = /<obj type="VirtualMachine">([^<]+)/.exec(body) ?? [];
  if (id !== undefined)
    return vms
      .filter((vm) => vm.id === id)
      .map(objectOf)
      .join("");
  const all = body.includes("<type>VirtualMachine</type>") ? vms : [];
  return `<token>next</token>${all.map(objectOf).join("")}`;
}

const property = (name: string, value: string, type = "xsd:string"): string =>
  `<propSet><name>${name}</name><val xsi:type="${type}">${value}</val></propSet>`;

function objectOf({ id, name, devices, snapshot, powerState }: FakeVm): string {
  return `<objects><obj type="VirtualMachine">${id}</obj>${[
    property("name", name),
    property("runtime.powerState", powerState, "VirtualMachinePowerState"),
    property("config.template", "false"),
    property("config.annotation", "from &lt;elsewhere&gt;"),
    property("config.firmware", "efi"),
    property("config.guestFullName", "Debian GNU/Linux 12 (64-bit)"),
    property(
      "config.bootOptions",
      "<efiSecureBootEnabled>true</efiSecureBootEnabled>",
      "VirtualMachineBootOptions",
    ),
    property(
      "config.hardware",
      `<numCPU>4</numCPU><numCoresPerSocket>2</numCoresPerSocket><memoryMB>2048</memoryMB>${devices}`,
      "VirtualHardware",
    ),
    ...(snapshot === undefined ? [] : [property("snapshot", snapshot)]),
  ].join("")}</objects>`;
}

/** A data center in a folder, and a port group. */
function placesOf(): string {
  return [
    `<objects><obj type="Folder">group-2</obj>${property("name", "Eu%2frope")}<propSet><name>parent</name><val type="Folder" xsi:type="ManagedObjectReference">group-d1</val></propSet></objects>`,
    `<objects><obj type="Datacenter">datacenter-3</obj>${property("name", "Paris")}<propSet><name>parent</name><val type="Folder" xsi:type="ManagedObjectReference">group-2</val></propSet><propSet><name>datastore</name><val xsi:type="ArrayOfManagedObjectReference"><ManagedObjectReference type="Datastore">datastore-52</ManagedObjectReference></val></propSet></objects>`,
    `<objects><obj type="DistributedVirtualPortgroup">dvportgroup-13</obj>${property("key", "dvportgroup-13")}${property("name", "Production")}</objects>`,
  ].join("");
}

function sendFile(
  fake: Fake,
  url: URL,
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const path = decodeURIComponent(url.pathname.replace("/folder/", ""));
  const { range = "" } = headers;
  fake.requests.push(`${path}?${url.searchParams.toString()} ${range}`);
  const fault = fake.faults.get(path);
  fake.faults.delete(path);
  const content = fake.files.get(path);
  if (headers.cookie !== SESSION || fault === "expired") {
    response.writeHead(401).end();
    return;
  }
  if (content === undefined) {
    response.writeHead(404).end();
    return;
  }
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range)!;
  const first = Number(from) + (fault === "shifted" ? 512 : 0);
  const last = Math.min(Number(to), content.length - 1);
  response.writeHead(206, {
    "content-range": `bytes ${first}-${last}/${content.length}`,
    "content-length": last - first + 1,
  });
  const half = content.subarray(first, first + ((last - first) >> 1));
  if (fault === "stalled") response.write(half);
  else if (fault === "cut") response.write(half, () => response.destroy());
  else response.end(content.subarray(first, last + 1));
}

/** A SCSI controller and a disk on it, `[ds 1] vm/NAME.vmdk`. */
export function diskDevice(
  name: string,
  size: number,
  more: { readonly unit?: number; readonly backing?: string } = {},
): string {
  const { unit = 0, backing = "" } = more;
  const [, type = "VirtualDiskFlatVer2BackingInfo"] =
    /type:(\w+)/.exec(backing) ?? [];
  return `<device xsi:type="VirtualDisk"><key>${2000 + unit}</key><deviceInfo><label>${name}</label></deviceInfo><backing xsi:type="${type}"><fileName>[ds 1] vm/${name}.vmdk</fileName><datastore type="Datastore">datastore-52</datastore>${backing.replace(/type:\w+/, "")}</backing><controllerKey>1000</controllerKey><unitNumber>${unit}</unitNumber><capacityInKB>${size / 1024}</capacityInKB><capacityInBytes>${size}</capacityInBytes></device>`;
}

export const CONTROLLER =
  '<device xsi:type="ParaVirtualSCSIController"><key>1000</key></device>';

export const NICS = `<device xsi:type="VirtualVmxnet3"><key>4001</key><backing xsi:type="VirtualEthernetCardNetworkBackingInfo"><deviceName>VM Network</deviceName></backing><macAddress>00:50:56:AA:00:02</macAddress></device><device xsi:type="VirtualVmxnet3"><key>4000</key><backing xsi:type="VirtualEthernetCardDistributedVirtualPortBackingInfo"><port><portgroupKey>dvportgroup-13</portgroupKey></port></backing><macAddress>00:50:56:aa:00:01</macAddress></device>`;

/** The descriptor of a flat disk. */
export function flatDescriptor(...extents: readonly string[]): Buffer {
  return Buffer.from(
    `# Disk DescriptorFile\nversion=1\nparentCID=ffffffff\ncreateType="vmfs"\n\n# Extent description\n${extents.join("\n")}\n`,
  );
}
