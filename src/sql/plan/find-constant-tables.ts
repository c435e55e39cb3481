/** Which tables of a FROM are constant to MariaDB: `constant-tables.ts` says what follows from that. */
import { engineRules } from '../model/index.ts';
import { accessWays } from './access.ts';
import type { Comparison } from './conjunct.ts';
import type { ConstantTable } from './constant-tables.ts';
import { possible } from './impossible.ts';
import type { FromList } from './join.ts';
import type { Planning } from './planning.ts';
import { rowCondition } from './row-condition.ts';

export function constantTablesOf({ nodes, conjuncts }: FromList, planning: Planning): readonly ConstantTable[] {
  if (!engineRules[planning.dialect].readsConstantTablesFirst) return [];
  const constant = conjuncts.map((each) => ({ ...each, comparisons: each.comparisons.filter(isRowFree) }));
  const found = nodes.flatMap((node) => {
    if (node.kind !== 'leaf' || node.item.table === null) return [];
    const { table, row } = node.item;
    const [access] = accessWays(table, row, constant, () => false, planning.dialect);
    if (access?.isPoint !== true) return [];
    const everyRow = rowCondition(node.item, [], planning);
    // Of the rows of its paths: what the query asks of them is recorded when it reads them.
    const condition: ConstantTable['condition'] = (frame) => ({ ...everyRow(frame), keep: null });
    return { table: table.id, paths: access.paths, condition };
  });
  if (found.length === 0) return [];
  const isPossible = possible({ nodes, conjuncts }, 'select', planning);
  return found.map((each) => ({ ...each, isPossible }));
}

function isRowFree({ values }: Comparison): boolean {
  return values.every((value) => value.isRowFree);
}
