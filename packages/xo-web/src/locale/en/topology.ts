export const topology = {};
