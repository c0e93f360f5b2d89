/** A share of the memory of a host, in bytes. */
interface MemoryUser {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
}

export interface MemoryShare {
  /** `free`, `others`, or the id of a VM. */
  readonly key: string;
  readonly kind: "vm" | "control" | "others" | "free";
  readonly name: string;
  readonly bytes: number;
  /** Offset and width, 0 to 1 of the memory. */
  readonly from: number;
  readonly share: number;
  /** Number of VMs in the share. */
  readonly count: number;
}

/** VMs with a share of their own. */
const NAMED = 12;

/**
 * The memory of a host: control domain, largest VMs, other VMs
 * and hypervisor, free memory. The shares add up to the whole.
 * @param usage total, as the host reports it
 */
export function memoryShares(
  { size, usage }: { readonly size: number; readonly usage: number },
  control: MemoryUser | undefined,
  vms: readonly MemoryUser[],
): readonly MemoryShare[] {
  const sorted = [...vms].sort((a, b) => b.bytes - a.bytes);
  const named = sorted.slice(0, NAMED);
  const counted = [...(control ? [control] : []), ...named];
  const known = counted.reduce((sum, { bytes }) => sum + bytes, 0);
  const whole = Math.max(size, known, 1);
  // The used memory of the host includes Xen's own; that of VMs is known exactly.
  const rest = sorted.slice(NAMED).reduce((sum, { bytes }) => sum + bytes, 0);
  const others = Math.min(Math.max(usage - known, rest), whole - known);
  const parts: Omit<MemoryShare, "from" | "share">[] = [];
  if (control)
    parts.push({ ...control, key: control.id, kind: "control", count: 1 });
  for (const vm of named)
    parts.push({ ...vm, key: vm.id, kind: "vm", count: 1 });
  const count = sorted.length - named.length;
  if (others > 0)
    parts.push({
      key: "others",
      kind: "others",
      name: "",
      bytes: others,
      count,
    });
  const free = whole - known - others;
  parts.push({ key: "free", kind: "free", name: "", bytes: free, count: 0 });
  let from = 0;
  return parts.map((part) => {
    const share = part.bytes / whole;
    const placed = { ...part, from, share };
    from += share;
    return placed;
  });
}
