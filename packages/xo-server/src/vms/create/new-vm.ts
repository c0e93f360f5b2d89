import { XoError, type Ref } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { HandlerContext } from "../../operations/operation.js";
import { findCdImage } from "../drives/cd-image.js";
import type { GuestConfig } from "../drives/config-drive.js";
import type { CreateParameters, VifInput } from "./create-parameters.js";
import { checkDiskSpecs, parseDiskSpecs } from "./disk-specs.js";
import type { ResolvedDiskSpec } from "./create-disks.js";
import { PoolScope } from "../pool-scope.js";
import { findTemplate, readDiskSizes } from "./template.js";

/**
 * The plan of a new VM: all objects are resolved and all rights are checked, but
 * nothing has been created.
 */
export interface NewVm {
  readonly template: PoolObject;
  readonly name: string;
  readonly isClone: boolean;
  /** Undefined: the disks of the template. */
  readonly disks: readonly ResolvedDiskSpec[] | undefined;
  readonly defaultSr: Ref | undefined;
  /** Undefined: the VIFs of the template. */
  readonly vifs: readonly NewVmVif[] | undefined;
  /** Whether the VIFs of the template are kept in addition. */
  readonly keepsVifs: boolean;
  readonly install: Installation | undefined;
  readonly config: GuestConfig | undefined;
  readonly dropsConfig: boolean;
  /** Host whose vendor strings the guest sees. */
  readonly biosHost: Ref | undefined;
  readonly hasVtpm: boolean;
  readonly gpu: { readonly group: Ref; readonly type: Ref } | undefined;
  readonly starts: boolean;
}

export interface NewVmVif {
  /** Position of the template's VIF that it replaces; absent: the first free position. */
  readonly device: string | undefined;
  /** Undefined: the template's default is removed. */
  readonly network: Ref | undefined;
  readonly networkId: string | undefined;
  readonly mac: string | undefined;
  readonly mtu: number | undefined;
  readonly ipv4: readonly string[] | undefined;
  readonly ipv6: readonly string[] | undefined;
}

type Installation =
  | { readonly method: "cdrom"; readonly image: Ref }
  | { readonly method: "network"; readonly repository: string };

/** @throws XoError NO_SUCH_OBJECT, FORBIDDEN, INVALID_PARAMETERS */
export function planNewVm(
  input: CreateParameters,
  objects: PoolObjects,
  rights: Pick<HandlerContext, "check">,
): { readonly plan: NewVm; readonly scope: PoolScope } {
  const template = findTemplate(input, objects);
  rights.check("administrate:create-vm", "VM-template", template.id);
  const scope = new PoolScope(objects, template, rights);
  const { affinityHost } = input;
  const { object: pool } = objects.get(String(template.object["$pool"]));
  const host = affinityHost ?? String(pool["master"]);
  const plan: NewVm = {
    template,
    name: input.name_label,
    isClone: input.clone ?? true,
    disks: planDisks(input, objects, scope),
    defaultSr: planDefaultSr(input, pool, { scope, objects }),
    vifs: input.VIFs?.map((vif) => planVif(vif, scope)),
    keepsVifs: input.keepVIFs === true,
    install: planInstallation(input, objects, scope),
    config: planConfig(input),
    dropsConfig: input.destroyCloudConfigVdiAfterBoot === true,
    biosHost:
      input.copyHostBiosStrings === true
        ? objects.get(host, "host").ref
        : undefined,
    hasVtpm: input.createVtpm === true,
    gpu: planGpu(input, scope),
    starts: input.bootAfterCreate === true,
  };
  if (plan.dropsConfig && !plan.starts)
    throw invalid("destroyCloudConfigVdiAfterBoot needs bootAfterCreate");
  return { plan, scope };
}

function planDisks(
  { VDIs, existingDisks }: CreateParameters,
  objects: PoolObjects,
  scope: PoolScope,
): ResolvedDiskSpec[] | undefined {
  if (VDIs === undefined && existingDisks === undefined) return undefined;
  const specs = parseDiskSpecs(VDIs ?? [], existingDisks);
  checkDiskSpecs(specs, readDiskSizes(scope.anchor, objects));
  return specs.map((spec) => ({
    ...spec,
    sr:
      spec.sr === undefined
        ? undefined
        : scope.use("operate:store", "SR", spec.sr).ref,
  }));
}

/**
 * The default SR of the pool. If disks are created on it, the caller needs the
 * right to store there, so that a disk without an SR does not circumvent that
 * right.
 */
function planDefaultSr(
  input: CreateParameters,
  pool: PoolObject["object"],
  { scope, objects }: { scope: PoolScope; objects: PoolObjects },
): Ref | undefined {
  const id = pool["default_SR"];
  if (typeof id !== "string") return undefined;
  return usesDefaultSr(input, scope.anchor, objects)
    ? scope.use("operate:store", "SR", id).ref
    : objects.get(id, "SR").ref;
}

function usesDefaultSr(
  { VDIs, existingDisks, cloudConfig }: CreateParameters,
  template: PoolObject,
  objects: PoolObjects,
): boolean {
  const existing = readDiskSizes(template, objects);
  if (VDIs === undefined && existingDisks === undefined)
    return (
      describesDisks(template) || (Boolean(cloudConfig) && existing.size === 0)
    );
  const kept = parseDiskSpecs(VDIs ?? [], existingDisks).filter(
    ({ destroy }) => !destroy,
  );
  const isNew = ({ position }: { readonly position: string | undefined }) =>
    position === undefined || !existing.has(position);
  return (
    kept.some((spec) => spec.sr === undefined && isNew(spec)) ||
    // The config drive is created on the SR of the first disk.
    (Boolean(cloudConfig) && kept.length === 0 && existing.size === 0)
  );
}

/**
 * Whether XAPI creates disks that are described in the other_config of a template
 * without disks.
 */
function describesDisks({ object }: PoolObject): boolean {
  const { disks = [] } = (object["template_info"] ?? {}) as {
    readonly disks?: readonly unknown[];
  };
  return disks.length > 0;
}

function planVif(vif: VifInput, scope: PoolScope): NewVmVif {
  const { device, destroy = false } = vif;
  if (vif.network === undefined && !destroy)
    throw invalid("a VIF names no network");
  const network =
    vif.network === undefined || destroy
      ? undefined
      : scope.use("operate:attach", "network", vif.network);
  const MTU = network?.object["MTU"];
  const ipv4 = vif.allowedIpv4Addresses ?? vif.ipv4_allowed;
  const ipv6 = vif.allowedIpv6Addresses ?? vif.ipv6_allowed;
  if (network !== undefined)
    scope.checkLocking({ allowedIpv4: ipv4, allowedIpv6: ipv6 }, network.id);
  return {
    device: device === undefined ? undefined : String(device),
    network: network?.ref,
    networkId: network?.id,
    mac: vif.mac,
    mtu: vif.mtu ?? (typeof MTU === "number" ? MTU : undefined),
    ipv4,
    ipv6,
  };
}

function planInstallation(
  { installation }: CreateParameters,
  objects: PoolObjects,
  scope: PoolScope,
): Installation | undefined {
  if (installation === undefined) return undefined;
  const { method, repository = "" } = installation;
  if (method === "network") return { method, repository };
  return {
    method: "cdrom",
    image: findCdImage(scope, objects, repository).ref,
  };
}

function planConfig({
  cloudConfig,
  networkConfig,
}: CreateParameters): GuestConfig | undefined {
  if (!cloudConfig) {
    if (networkConfig) throw invalid("networkConfig needs cloudConfig");
    return undefined;
  }
  return { userData: cloudConfig, networkConfig: networkConfig || undefined };
}

function planGpu(
  { gpuGroup, vgpuType }: CreateParameters,
  scope: PoolScope,
): NewVm["gpu"] {
  if (gpuGroup === undefined || vgpuType === undefined) return undefined;
  return {
    group: scope.use("operate:attach", "gpuGroup", gpuGroup).ref,
    type: scope.use("read", "vgpuType", vgpuType).ref,
  };
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
