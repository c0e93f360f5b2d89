import type {
  HandlerContext,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import { refIn, text } from "../records/fields.js";
import { requestedHost } from "./requested-host.js";
import { runsOf } from "./vm-runs.js";
import type { Metric } from "./metric.js";
import { hostMetrics, srMetrics, srsOf, vmMetrics } from "./metrics.js";
import { vmsOn } from "./residency.js";
import { rrdJson, rrdXml } from "./rrd-document.js";
import { makeXport, xportJson, xportXml, type Column } from "./xport.js";

/** What a host measures of itself, its VMs and its SRs. Each host reports only its own. */
export const rrdHandlers: readonly HttpHandler[] = [
  {
    name: "rrd_updates",
    method: "GET",
    path: "/rrd_updates",
    taskless: true,
    handle: updates,
  },
  {
    name: "host_rrd",
    method: "GET",
    path: "/host_rrd",
    taskless: true,
    handle: hostDocument,
  },
  {
    name: "vm_rrd",
    method: "GET",
    path: "/vm_rrd",
    taskless: true,
    handle: vmDocument,
  },
  {
    name: "sr_rrd",
    method: "GET",
    path: "/sr_rrd",
    taskless: true,
    handle: srDocument,
  },
];

function updates(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): void {
  const { query } = request;
  const start = numberIn(query.get("start"));
  if (start === undefined) {
    response.bare(400);
    return;
  }
  const columns = columnsFor(query, context);
  const cf = query.get("cf") ?? "AVERAGE";
  // Only AVERAGE is stored by default: the daemon has no archive of any other
  // kind.
  if (cf !== "AVERAGE" || columns.length === 0) {
    response.crash(
      knownFunctions.has(cf)
        ? "Rrd.No_RRA_Available"
        : `Failure("Unknown cf: ${cf}")`,
    );
    return;
  }
  const interval = numberIn(query.get("interval")) ?? 0;
  const json = wantsJson(request);
  const xport = makeXport(
    columns,
    { start, interval },
    context.clock.now() / 1000,
  );
  response.reply({
    version: "1.1",
    headers: [
      ["Connection", "keep-alive"],
      ["Cache-Control", "no-cache, no-store"],
      ["Content-Type", json ? "application/json" : "text/xml"],
    ],
    body: json ? xportJson(xport) : xportXml(xport),
    keepAlive: true,
  });
}

const knownFunctions = new Set(["AVERAGE", "MIN", "MAX", "LAST"]);

/** All VMs of the host unless some are named; the host itself and SRs only if requested. */
function columnsFor(
  query: URLSearchParams,
  context: HandlerContext,
): readonly Column[] {
  const { db, pool } = context;
  const hostRef = requestedHost(query, context);
  const host = text(db.get("host", hostRef), "uuid");
  const requestedVms = new Set(query.getAll("vm_uuid"));
  const requestedSrs = new Set(query.getAll("sr_uuid"));
  const uuidOf = (className: string, ref: string) =>
    text(db.get(className, ref), "uuid");
  const vms = vmsOn(db, hostRef).filter(
    (ref) => requestedVms.size === 0 || requestedVms.has(uuidOf("VM", ref)),
  );
  const srs = srsOf(db, hostRef, pool.coordinatorRef()).filter((ref) =>
    requestedSrs.has(uuidOf("SR", ref)),
  );
  return [
    ...(query.get("host") === "true"
      ? own("host", host, hostMetrics(context, hostRef))
      : []),
    ...vms.flatMap((ref) =>
      own("vm", uuidOf("VM", ref), vmMetrics(context, ref)),
    ),
    ...srs.flatMap((ref) => own("sr", uuidOf("SR", ref), srMetrics(db, ref))),
  ];
}

function own(
  owner: Column["owner"],
  uuid: string,
  metrics: readonly Metric[],
): readonly Column[] {
  return metrics.map((metric) => ({ owner, uuid, metric }));
}

function hostDocument(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): void {
  send(request, response, {
    metrics: hostMetrics(context, requestedHost(request.query, context)),
    now: context.clock.now(),
  });
}

/** A running VM's is on its host; the coordinator stores those of VMs that have run. */
function vmDocument(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): void {
  const { db } = context;
  const uuid = request.query.get("uuid");
  if (uuid === null) {
    response.bare(400);
    return;
  }
  const vm = db.byUuid("VM", uuid);
  const last =
    vm === undefined ? undefined : runsOf(context, db.get("VM", vm)).at(-1);
  if (vm === undefined || last === undefined) {
    response.bare(404);
    return;
  }
  const host =
    refIn(db.get("VM", vm), "resident_on") ?? context.pool.coordinatorRef();
  const address = context.pool.addressOf(host);
  if (host !== context.hostRef && address !== undefined)
    response.bare(302, [["Location", locationOn(address, request)]]);
  else
    send(request, response, {
      metrics: vmMetrics(context, vm),
      // An archive ends with the VM's last run.
      now: Math.min(context.clock.now(), last.to * 1000),
    });
}

function srDocument(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): void {
  const uuid = request.query.get("uuid");
  if (uuid === null) {
    response.bare(400);
    return;
  }
  const sr = context.db.byUuid("SR", uuid);
  if (sr === undefined) response.bare(404);
  else
    send(request, response, {
      metrics: srMetrics(context.db, sr),
      now: context.clock.now(),
    });
}

/** The same request on another host. The session in the query is forwarded; a cookie is not. */
export function locationOn(
  address: string,
  { path, query }: HandlerRequest,
): string {
  return `https://${address}${path}?${query.toString()}`;
}

function send(
  request: HandlerRequest,
  response: HandlerResponse,
  { metrics, now }: { metrics: readonly Metric[]; now: number },
): void {
  const json = wantsJson(request);
  response
    .start({
      version: "1.0",
      headers: [
        ["Connection", "close"],
        ["Cache-Control", "no-cache, no-store"],
        ["Content-Type", json ? "application/json" : "text/xml"],
        ["Access-Control-Allow-Origin", "*"],
      ],
    })
    .end(json ? rrdJson(metrics, now / 1000) : rrdXml(metrics, now / 1000));
}

/** `json` in any form, even `json=false`, means JSON, unless an Accept header decides [rrdd_http_handler.ml:21-36]. */
function wantsJson({
  query,
  headers,
}: Pick<HandlerRequest, "query" | "headers">): boolean {
  const accept = headers.get("accept") ?? "";
  if (accept.includes("application/json")) return true;
  if (accept.includes("text/xml") || accept.includes("application/xml"))
    return false;
  return query.has("json");
}

function numberIn(value: string | null): number | undefined {
  if (value === null || !/^-?\d+(\.\d*)?$/.test(value)) return undefined;
  return Math.floor(Number(value));
}
