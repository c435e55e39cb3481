/**
 * UPDATE and DELETE with a subquery over their own table, as MariaDB 10.11 runs them; that decides which locks stay below REPEATABLE READ.
 *
 * A DELETE first collects the rows it is going to delete, and unlocks none of those it passes. An UPDATE becomes one of several tables: it shares what the
 * subquery reads, reads no committed version of a locked row, and where IN or EXISTS is a semi-join, it unlocks only rows that the conditions on the
 * table alone exclude. A derived table that has to be computed first is no such subquery.
 */
import type { Node, RangeVar } from '@pgsql/types';
import type { Table } from '../catalog/relation.ts';
import type { Frame } from '../expression.ts';
import { engineRules, type LockRequest, type Row } from '../model/index.ts';
import { allOf, type Conjunct } from './conjunct.ts';
import { isDerivedApart, isMergeable } from './derived-comparison.ts';
import { isMembership, readsByIndex } from './membership.ts';
import type { RangeItem } from './namespace.ts';
import type { QueryScope } from './scope.ts';
import { rewrite, someNode } from './tree.ts';

/** Does the lock on a row stay that does not match? */
export type KeptLocks = (frame: Frame, purpose: LockRequest['purpose']) => (row: Row) => boolean;

/** @returns `null`: no condition reads the table that the statement writes to */
export function keptLocks(
  item: RangeItem,
  table: Table,
  conjuncts: readonly Conjunct[],
  scope: QueryScope,
): KeptLocks | null {
  if (!engineRules[scope.dialect].locksWhileScanning) return null;
  const reading = conjuncts.filter(({ node }) => readsTable(node, table, scope));
  if (reading.length === 0) return null;
  const isSemiJoin = reading.some(({ node }) => joins(node) && !readsByIndex(node, scope));
  const alone = allOf(conjuncts.filter(({ node }) => !someNode(node, (part) => 'SubLink' in part)));
  return (frame, purpose) => (row) => {
    if (purpose === 'delete') return true;
    if (!isSemiJoin) return false;
    frame.rows[item.row] = row;
    return alone === null || alone(frame);
  };
}

function readsTable(node: Node, table: Table, scope: QueryScope): boolean {
  const merged = rewrite(node, (part) => (isDerivedApart(part) ? { A_Const: { isnull: true } } : undefined));
  const isTable = (range: RangeVar): boolean =>
    scope.commonTable(range.relname ?? '') === undefined && scope.planning.findRelation(range) === table;
  return someNode(merged, (part) => 'RangeVar' in part && isTable(part.RangeVar));
}

function joins(node: Node): boolean {
  if (!('SubLink' in node)) return false;
  const { subLinkType, subselect } = node.SubLink;
  if (subselect === undefined || !('SelectStmt' in subselect) || !isMergeable(subselect.SelectStmt)) return false;
  return subLinkType === 'EXISTS_SUBLINK' || isMembership(node.SubLink);
}
