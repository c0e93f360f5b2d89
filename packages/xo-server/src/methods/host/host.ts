import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { actionRoute, idOf, onId, setFields } from "../definition/on-object.js";
import type { AdministrateVerb } from "../../rights/actions.js";

const id = idOf("a host");

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "host");

const shared = { result: Type.Boolean(), changes: true };

const idOnly = Type.Object({ id });

const may = (what: AdministrateVerb) => onId(`administrate:${what}`, "host");

const call = async (
  context: OperationContext,
  id: string,
  method: string,
): Promise<true> => {
  const { xapi, ref } = on(context, id);
  await xapi.callAsync(method, [ref]);
  return true;
};

const hostSet = defineOperation({
  ...shared,
  name: "host.set",
  summary: "Change settings of a host.",
  params: Type.Object({
    id,
    name_label: Type.Optional(
      Type.String({ description: "Name of the host." }),
    ),
    name_description: Type.Optional(
      Type.String({ description: "Description of the host." }),
    ),
    iscsiIqn: Type.Optional(
      Type.String({ description: "IQN of the host as an iSCSI initiator." }),
    ),
    multipathing: Type.Optional(
      Type.Boolean({
        description: "Whether multipathing is enabled for its storage.",
      }),
    ),
    tags: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 1_000,
        description: "All tags of the host.",
      }),
    ),
  }),
  permission: may("set"),
  handler: async ({ id, iscsiIqn, ...fields }, context) => {
    const { xapi, ref } = on(context, id);
    const target = { className: "host", ref };
    await setFields(xapi, target, { ...fields, iscsi_iqn: iscsiIqn });
    return true;
  },
});

const hostDetach = defineOperation({
  ...shared,
  name: "host.detach",
  summary:
    "Eject a host from its pool. It becomes a separate pool, and its local storage is erased.",
  params: idOnly,
  permission: may("detach"),
  rest: denied("detach", "DetachHost"),
  handler: ({ id }, context) => call(context, id, "pool.eject"),
});

const hostForget = defineOperation({
  ...shared,
  name: "host.forget",
  summary:
    "Forget a host that is permanently down: remove it from the database of its pool.",
  params: idOnly,
  permission: may("forget"),
  rest: denied("forget", "ForgetHost"),
  handler: ({ id }, context) => {
    checkDown(on(context, id));
    return call(context, id, "host.destroy");
  },
});

const hostScanPifs = defineOperation({
  ...shared,
  name: "host.scanPifs",
  summary: "Scan a host for new network interfaces (PIFs).",
  params: idOnly,
  permission: may("scan"),
  rest: actionRoute("/hosts/{id}/actions/scan_pifs", "HostScanPifs"),
  handler: ({ id }, context) => call(context, id, "PIF.scan"),
});

const hostManagementReconfigure = defineOperation({
  ...shared,
  name: "host.managementReconfigure",
  summary: "Change the management interface of a host.",
  params: Type.Object({ id, pif: idOf("a PIF of the host") }),
  permission: may("set"),
  rest: actionRoute(
    "/hosts/{id}/actions/management_reconfigure",
    "ManagementReconfigure",
  ),
  handler: async ({ id, pif }, context) => {
    context.check("read", "PIF", pif);
    const { xapi } = on(context, id);
    const { ref, object } = context.objects.get(pif, "PIF");
    if (object["$host"] !== id)
      throw new XoError("NO_SUCH_OBJECT", { type: "PIF", id: pif });
    await xapi.callAsync("host.management_reconfigure", [ref]);
    return true;
  },
});

const hostSetRemoteSyslogHost = defineOperation({
  ...shared,
  name: "host.setRemoteSyslogHost",
  summary: "Set the remote syslog server of a host; null removes it.",
  params: Type.Object({
    id,
    syslogDestination: Type.Union(
      [Type.String({ minLength: 1 }), Type.Null()],
      { description: "Host name or address of the syslog server; null: none." },
    ),
  }),
  permission: may("set"),
  handler: async ({ id, syslogDestination }, context) => {
    const { xapi, ref } = on(context, id);
    const key = "syslog_destination";
    await xapi.call("host.remove_from_logging", [ref, key]);
    if (syslogDestination !== null)
      await xapi.call("host.add_to_logging", [ref, key, syslogDestination]);
    await xapi.call("host.syslog_reconfigure", [ref], { idempotent: true });
    return true;
  },
});

const hostSetPowerOnMode = defineOperation({
  ...shared,
  name: "host.setPowerOnMode",
  summary:
    "Set the power-on mode of a host; empty: it cannot be powered on remotely.",
  params: Type.Object({
    id,
    powerOnMode: Type.String({
      description:
        "Power-on mode: `wake-on-lan`, or the name of a script on the coordinator.",
    }),
    configuration: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          "Settings of the power-on mode, such as the address of a remote power controller.",
      }),
    ),
  }),
  permission: may("set"),
  handler: async ({ id, powerOnMode, configuration = {} }, context) => {
    const { xapi, ref } = on(context, id);
    const params = [ref, powerOnMode, configuration];
    await xapi.call("host.set_power_on_mode", params, { idempotent: true });
    return true;
  },
});

const hostGetSchedulerGranularity = defineOperation({
  name: "host.getSchedulerGranularity",
  summary: "Return the scheduling granularity of a host: cpu, core or socket.",
  params: idOnly,
  result: Type.String(),
  permission: onId("read", "host"),
  handler: async ({ id }, context) => {
    const { xapi, ref } = on(context, id);
    return String(await xapi.call("host.get_sched_gran", [ref]));
  },
});

const hostSetSchedulerGranularity = defineOperation({
  ...shared,
  name: "host.setSchedulerGranularity",
  summary:
    "Set the scheduling granularity of a host. Takes effect at its next start.",
  params: Type.Object({
    id,
    schedulerGranularity: Type.Enum(["cpu", "core", "socket"], {
      description: "Threads of one unit run vCPUs of one VM at a time.",
    }),
  }),
  permission: may("set"),
  handler: async ({ id, schedulerGranularity }, context) => {
    const { xapi, ref } = on(context, id);
    await xapi.call("host.set_sched_gran", [ref, schedulerGranularity]);
    return true;
  },
});

const hostSetControlDomainMemory = defineOperation({
  ...shared,
  name: "host.setControlDomainMemory",
  summary:
    "Set the memory of the control domain (dom0) of a host. Takes effect at its next start; the host must be disabled.",
  params: Type.Object({
    id,
    memory: Type.Integer({
      minimum: 1 << 30,
      description: "In bytes.",
    }),
  }),
  permission: may("set"),
  handler: async ({ id, memory }, context) => {
    const { xapi, object } = on(context, id);
    const actual = object["enabled"];
    if (actual !== false)
      throw new XoError("INCORRECT_STATE", {
        object: id,
        property: "enabled",
        actual,
        expected: false,
      });
    const { size } = object["memory"] as { readonly size: number };
    if (memory >= size)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `memory: less than the ${size} bytes of the host is allowed`,
      });
    const dom0 = String(object["controlDomain"]);
    const { ref } = context.objects.get(dom0, "VM-controller");
    const min = Number(await xapi.call("VM.get_memory_static_min", [ref]));
    // VM.set_memory would not change the static minimum that the installation has set.
    const all = [Math.min(min, memory), memory, memory, memory].map(String);
    await xapi.callAsync("VM.set_memory_limits", [ref, ...all]);
    return true;
  },
});

const hostInstallCertificate = defineOperation({
  ...shared,
  name: "host.installCertificate",
  summary: "Install a TLS certificate on a host.",
  params: Type.Object({
    id,
    certificate: Type.String({
      minLength: 1,
      description: "Certificate, in PEM format.",
    }),
    chain: Type.Optional(
      Type.String({ description: "Intermediate certificates, in PEM format." }),
    ),
    privateKey: Type.String({
      minLength: 1,
      description: "Private key of the certificate, in PEM format (PKCS #8).",
    }),
  }),
  permission: may("set"),
  rest: denied("install_certificate", "InstallHostCertificate"),
  handler: async ({ id, certificate, chain = "", privateKey }, context) => {
    const { xapi, ref } = on(context, id);
    const params = [ref, certificate, privateKey, chain];
    await xapi.callAsync("host.install_server_certificate", params);
    return true;
  },
});

const hostResetCertificate = defineOperation({
  ...shared,
  name: "host.resetCertificate",
  summary:
    "Replace the TLS certificate of a host with a new self-signed one. Clients that trust only the old one, including this server, must be set to trust the new one.",
  params: idOnly,
  permission: may("set"),
  rest: denied("reset_certificate", "ResetHostCertificate"),
  handler: ({ id }, context) =>
    call(context, id, "host.reset_server_certificate"),
});

const hostRefreshCertificate = defineOperation({
  ...shared,
  name: "host.refreshCertificate",
  summary:
    "Renew the internal certificate of a host, by which the hosts of its pool trust each other.",
  params: idOnly,
  permission: may("set"),
  rest: actionRoute(
    "/hosts/{id}/actions/refresh_certificate",
    "RefreshHostCertificate",
  ),
  handler: ({ id }, context) =>
    call(context, id, "host.refresh_server_certificate"),
});

/** REST route that is not exposed to AI assistants. */
function denied(verb: string, operationId: string): RestRoute {
  const route = actionRoute(`/hosts/{id}/actions/${verb}`, operationId);
  return { ...route, exposure: "deny" };
}

/** XAPI refuses this too, but with an error that fewer clients know. */
function checkDown({ id, object }: PoolObject): void {
  const actual = object["power_state"];
  if (actual === "Running")
    throw new XoError("INCORRECT_STATE", {
      object: id,
      property: "power_state",
      actual,
      expected: "Halted",
    });
}

/** Hosts and their settings; power operations are in host-power.ts. */
export const hostOperations = [
  hostSet,
  hostDetach,
  hostForget,
  hostScanPifs,
  hostManagementReconfigure,
  hostSetRemoteSyslogHost,
  hostSetPowerOnMode,
  hostGetSchedulerGranularity,
  hostSetSchedulerGranularity,
  hostSetControlDomainMemory,
  hostInstallCertificate,
  hostResetCertificate,
  hostRefreshCertificate,
];
