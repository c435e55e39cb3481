/** The statements that Prisma sends for a call of a model (seen with Prisma 7.10): reads of relations are statements of their own. */
import { type Abstract, objectOf } from '../abstract-value.ts';
import { firstRow, requireRow, rowCount } from './chain.ts';
import { aggregate, count, groupBy } from './prisma-aggregates.ts';
import { chosenFields, one, writtenFields } from './prisma-data.ts';
import { find, optional } from './prisma-reads.ts';
import type { PrismaCall } from './prisma-statement.ts';
import { create, insertRows, remove, update, updateRows, upsert } from './prisma-writes.ts';

type Run = (call: PrismaCall) => Abstract;

export const prismaCalls: Readonly<Record<string, Run>> = {
  findUnique: (call) => firstRow(find(call, null)),
  findUniqueOrThrow: (call) => requireRow(call.machine, firstRow(find(call, null))),
  findFirst: (call) => firstRow(find(call, one)),
  findFirstOrThrow: (call) => requireRow(call.machine, firstRow(find(call, one))),
  findMany: (call) => find(call, optional(call, 'take')),
  create,
  createMany: (call) => counted(insertRows(call, false)),
  createManyAndReturn: (call) => insertRows(call, true),
  update: (call) => update(call),
  updateMany: (call) => counted(updateRows(call, writtenFields(call, call.options.get('data'), 'update'), [])),
  updateManyAndReturn: (call) =>
    updateRows(call, writtenFields(call, call.options.get('data'), 'update'), chosenFields(call, call.options).fields),
  delete: (call) => requireRow(call.machine, firstRow(remove(call, chosenFields(call, call.options).fields))),
  deleteMany: (call) => counted(remove(call, [])),
  upsert,
  count,
  aggregate,
  groupBy,
};

function counted(rows: Abstract): Abstract {
  return objectOf({ count: rowCount(rows) });
}
