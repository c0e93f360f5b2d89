import type { RouteRecordRaw } from "vue-router";
import type { Messages } from "./locale/messages.js";

declare module "vue-router" {
  interface RouteMeta {
    /** The page name, in titles and in the side bar. */
    page: keyof Messages["shell"]["pages"];
    /** Also for anonymous users. */
    isPublic?: boolean;
    /** Without header and side bar. */
    isBare?: boolean;
  }
}

const list = (type: string) => ({
  component: () => import("./lists/ListPage.vue"),
  props: { type },
});
const vm = (type: string) => ({
  component: () => import("./details/vm/VmPage.vue"),
  props: ({ params }: { params: object }) => ({ type, ...params }),
});

/** Every page, by its address. Each is loaded on demand. */
export const routes: readonly RouteRecordRaw[] = [
  {
    path: "/",
    meta: { page: "overview" },
    component: () => import("./overview/OverviewPage.vue"),
  },
  { path: "/vms", meta: { page: "vms" }, ...list("VM") },
  { path: "/templates", meta: { page: "templates" }, ...list("VM-template") },
  { path: "/snapshots", meta: { page: "snapshots" }, ...list("VM-snapshot") },
  { path: "/hosts", meta: { page: "hosts" }, ...list("host") },
  { path: "/pools", meta: { page: "pools" }, ...list("pool") },
  { path: "/srs", meta: { page: "srs" }, ...list("SR") },
  { path: "/vdis", meta: { page: "vdis" }, ...list("VDI") },
  { path: "/networks", meta: { page: "networks" }, ...list("network") },
  { path: "/pifs", meta: { page: "pifs" }, ...list("PIF") },
  { path: "/messages", meta: { page: "messages" }, ...list("message") },

  { path: "/vms/:id/:tab?", meta: { page: "vms" }, ...vm("VM") },
  {
    path: "/templates/:id/:tab?",
    meta: { page: "templates" },
    ...vm("VM-template"),
  },
  {
    path: "/snapshots/:id/:tab?",
    meta: { page: "snapshots" },
    ...vm("VM-snapshot"),
  },
  {
    path: "/hosts/:id/:tab?",
    meta: { page: "hosts" },
    component: () => import("./details/host/HostPage.vue"),
    props: true,
  },
  {
    path: "/pools/:id/:tab?",
    meta: { page: "pools" },
    component: () => import("./details/pool/PoolPage.vue"),
    props: true,
  },
  {
    path: "/srs/:id/:tab?",
    meta: { page: "srs" },
    component: () => import("./details/sr/SrPage.vue"),
    props: true,
  },
  {
    path: "/networks/:id/:tab?",
    meta: { page: "networks" },
    component: () => import("./details/network/NetworkPage.vue"),
    props: true,
  },

  {
    path: "/new/vm",
    meta: { page: "newVm" },
    component: () => import("./create-vm/CreateVmPage.vue"),
  },
  {
    path: "/topology",
    meta: { page: "topology" },
    component: () => import("./topology/TopologyPage.vue"),
  },
  {
    path: "/storage-map",
    meta: { page: "storageMap" },
    component: () => import("./topology/StorageMapPage.vue"),
  },
  {
    path: "/placement/:tab?",
    meta: { page: "placement" },
    component: () => import("./placement/page/PlacementPage.vue"),
    props: true,
  },
  {
    path: "/backup/:tab?/:id?",
    meta: { page: "backup" },
    component: () => import("./backup/page/BackupPage.vue"),
    props: true,
  },
  {
    path: "/updates",
    meta: { page: "updates" },
    component: () => import("./updates/UpdatesPage.vue"),
  },
  {
    path: "/health-report",
    meta: { page: "health" },
    component: () => import("./health/HealthPage.vue"),
  },
  {
    path: "/tasks",
    meta: { page: "tasks" },
    component: () => import("./tasks/TasksPage.vue"),
  },
  {
    path: "/activity",
    meta: { page: "activity" },
    component: () => import("./activity/ActivityPage.vue"),
  },
  { path: "/users", redirect: "/settings/users" },
  {
    path: "/settings/:section?",
    meta: { page: "settings" },
    component: () => import("./settings/SettingsPage.vue"),
    props: true,
  },
  {
    path: "/first-run",
    meta: { page: "firstRun" },
    component: () => import("./first-run/FirstRunPage.vue"),
  },
  {
    path: "/status",
    meta: { page: "status", isPublic: true },
    component: () => import("./status/StatusPage.vue"),
  },
  { path: "/sign-in", redirect: "/" },
  {
    path: "/consoles/:id",
    meta: { page: "console", isPublic: true, isBare: true },
    component: () => import("./consoles/ConsolePage.vue"),
    props: true,
  },
  {
    path: "/:rest(.*)*",
    meta: { page: "notFound" },
    component: () => import("./shell/NotFoundPage.vue"),
  },
];
