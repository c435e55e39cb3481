/**
 * A point of a history, by its number: the snapshot of a member, or its commit. `shift` says whether these are one point (0) or two (1), as
 * the level has it (nodes.ts). Snapshot and commit of a member are neighbours, so that numbers tell the order within a chain.
 */
export type Node = number;
export type Shift = 0 | 1;

export const snapshotNode = (member: number, shift: Shift): Node => member << shift;

export const commitNode = (member: number, shift: Shift): Node => (member << shift) | shift;

export const memberAt = (node: Node, shift: Shift): number => node >> shift;

export const isSnapshot = (node: Node, shift: Shift): boolean => (node & shift) === 0;

export const isCommit = (node: Node, shift: Shift): boolean => (node & shift) === shift;
