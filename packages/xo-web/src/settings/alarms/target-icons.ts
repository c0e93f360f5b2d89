import { Bell, Hash, Mail, MessageSquare, Users, Webhook } from "@lucide/vue";
import type { FunctionalComponent } from "vue";
import type { TargetKind } from "./target.js";

export const targetIcons: Readonly<Record<TargetKind, FunctionalComponent>> = {
  "e-mail": Mail,
  slack: Hash,
  teams: Users,
  mattermost: MessageSquare,
  ntfy: Bell,
  "web-hook": Webhook,
};
