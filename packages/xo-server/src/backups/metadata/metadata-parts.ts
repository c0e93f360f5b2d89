import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { AuthenticatedUsers } from "../../auth/users/authenticated-users.js";
import type { PoolObjects } from "../../objects/pool-objects.js";
import type {
  ArchiveAccess,
  RepositoryAccess,
} from "../run/repository-access.js";
import type { ConfigurationFiles } from "./configuration-files.js";

export interface MetadataKindParts {
  readonly store: Pick<Store, "schedules">;
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly objects: PoolObjects;
  readonly repositories: RepositoryAccess;
  readonly archives: ArchiveAccess;
  readonly files: Pick<ConfigurationFiles, "create">;
  readonly clock: Pick<WallClock, "now">;
  readonly isStopping: () => boolean;
}
