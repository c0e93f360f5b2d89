import { FakePool } from "./fake-pool.js";

export function poolOf(count: number, className = "VM"): FakePool {
  const pool = new FakePool(["message", "VBD", className, "host", "pool"]);
  for (let i = 0; i < count; i++)
    pool.put(className, `OpaqueRef:${i}`, { uuid: `u${i}`, n: 0 });
  return pool;
}
