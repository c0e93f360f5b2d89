import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { PoolScope } from "../pool-scope.js";

/**
 * An image for a CD drive. Images of ISO SRs need the right to read them; other
 * disks have contents of VMs and need `administrate:attach`, as for attaching
 * them.
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN, INVALID_PARAMETERS: of another pool
 */
export function findCdImage(
  scope: PoolScope,
  objects: Pick<PoolObjects, "find">,
  id: string,
): PoolObject {
  const image = scope.use("read", "VDI", id);
  const sr = objects.find(String(image.object["$SR"]));
  return sr?.object["content_type"] === "iso"
    ? image
    : scope.use("administrate:attach", "VDI", id);
}
