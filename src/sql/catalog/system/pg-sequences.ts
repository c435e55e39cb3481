/** pg_sequence, pg_sequences, and who owns a sequence: pg_depend. */
import { typeTitle, types } from '../../model/index.ts';
import type { VirtualDefinition } from './virtual.ts';

const classOfRelations = 1259;

export const pgSequences: readonly VirtualDefinition[] = [
  {
    name: 'pg_sequences',
    columns:
      'schemaname name, sequencename, sequenceowner, data_type text, start_value int8, min_value, max_value, increment_by, cycle bool, cache_size int8, last_value',
    *rows(catalog) {
      for (const relation of catalog.relations()) {
        if (relation.kind !== 'sequence') continue;
        const { type, start, min, max, increment, isCycle } = relation.options;
        const last = relation.isCalled ? relation.last : null;
        yield {
          schemaname: relation.schema,
          sequencename: relation.name,
          sequenceowner: 'postgres',
          data_type: typeTitle(types[type]),
          start_value: start,
          min_value: min,
          max_value: max,
          increment_by: increment,
          cycle: isCycle,
          cache_size: 1n,
          last_value: last,
        };
      }
    },
  },
  {
    name: 'pg_sequence',
    columns: 'seqrelid oid, seqtypid, seqstart int8, seqincrement, seqmax, seqmin, seqcache, seqcycle bool',
    *rows(catalog) {
      for (const relation of catalog.relations()) {
        if (relation.kind !== 'sequence') continue;
        const { type, start, min, max, increment, isCycle } = relation.options;
        yield {
          seqrelid: relation.id,
          seqtypid: types[type].oid,
          seqstart: start,
          seqincrement: increment,
          seqmax: max,
          seqmin: min,
          seqcache: 1n,
          seqcycle: isCycle,
        };
      }
    },
  },
  {
    // Of all that depends on something, the sequences that columns own: `i` for identity, `a` for serial.
    name: 'pg_depend',
    columns: 'classid oid, objid, objsubid int4, refclassid oid, refobjid, refobjsubid int4, deptype char',
    *rows(catalog) {
      for (const { id, columns } of catalog.tables()) {
        for (const [i, { sequence, identity }] of columns.entries()) {
          if (sequence === null) continue;
          yield {
            classid: classOfRelations,
            objid: sequence.id,
            objsubid: 0,
            refclassid: classOfRelations,
            refobjid: id,
            refobjsubid: i + 1,
            deptype: identity === null ? 'a' : 'i',
          };
        }
      }
    },
  },
];
