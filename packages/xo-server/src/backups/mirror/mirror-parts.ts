import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { AuthenticatedUsers } from "../../auth/users/authenticated-users.js";
import type { Archives } from "../archives/archives.js";
import type { Repositories } from "../repositories/repositories.js";
import type { ArchiveAccess } from "../run/repository-access.js";

export interface MirrorKindParts {
  readonly store: Pick<Store, "schedules">;
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly repositories: Pick<Repositories, "get" | "getEnabled" | "mirror">;
  readonly archives: Pick<ArchiveAccess, "refresh" | "remove">;
  readonly index: Pick<Archives, "list">;
  readonly clock: Pick<WallClock, "now">;
  readonly isStopping: () => boolean;
}
