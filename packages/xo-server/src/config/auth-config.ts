import { Type } from "typebox";
import { section } from "./config-parts.js";

export const AuthConfig = section("Local users.", {
  minPasswordLength: Type.Integer({
    default: 8,
    minimum: 1,
    maximum: 256,
    description:
      "Minimum number of characters of new passwords; existing ones stay valid. Not applied in the demo.",
  }),
});
