/** What functions in SQL may ask of the session and its database. */
import type { SqlValue } from '../../sql/model/index.ts';
import type { CatalogQuery, Surroundings } from '../../sql/index.ts';
import { searchPathOf } from '../settings/index.ts';
import { describe } from './describe.ts';
import { lockFunctions } from './lock-functions.ts';
import { activityIn, signal } from './session-activity.ts';
import type { SessionParts } from './session-parts.ts';
import { setSetting } from './session-settings.ts';

export function surroundingsOf(parts: Omit<SessionParts, 'named' | 'surroundings'>): Surroundings {
  const { instance, state, transaction, sequences } = parts;
  const asked = (time: bigint): bigint => {
    if (state.options.isSetUp !== true) instance.takenForGranted?.add(clockStands);
    return time;
  };
  const onCatalogQuery = (query: CatalogQuery): void =>
    instance.engine.recorder.onCatalogQuery(transaction.number, state.id, query);
  return {
    get transactionTime() {
      return asked(transaction.time);
    },
    get statementTime() {
      return asked(state.statementTime);
    },
    clock: () => asked(instance.clock()),
    random: () => instance.random(),
    globalSetting: (name) => state.settings.global(name),
    setting: (name) => transaction.characteristics.setting(name) ?? state.settings.get(name),
    setSetting: (name, value, isLocal) => void setSetting(parts, name, value, isLocal),
    user: state.options.user,
    get database() {
      return state.database;
    },
    sessionId: state.id,
    nextValue: (name) => sequences.next(name),
    currentValue: (name) => sequences.current(name),
    setValue: (name, value, isCalled) => sequences.set(name, value, isCalled),
    locks: lockFunctions({
      session: state.id,
      rules: instance.rules,
      locks: () => instance.engine.advisoryLocks,
      transaction: () => transaction.open(),
      notice: (notice) => state.watch.notices.push(notice),
      keepsSnapshot: () => instance.engine.keepsSnapshot(),
      takenForGranted: instance.takenForGranted,
    }),
    activity: activityIn(transaction, instance),
    signal: (what, pid) => signal(what, pid, state, instance),
    get lastInsertId() {
      return state.lastInsertId;
    },
    setLastInsertId: (value) => {
      state.lastInsertId = value;
      state.givenInsertId = value;
      return value;
    },
    get foundRows() {
      return state.foundRows;
    },
    get rowCount() {
      return state.rowCount;
    },
    describe: (what, ...names): SqlValue => {
      const answer = (): SqlValue =>
        describe(what, names, {
          catalog: instance.catalog,
          searchPath: searchPathOf(state, instance.catalog),
          version: instance.rules.version,
          transactionId: transaction.number,
          user: state.options.user,
        });
      // Programs ask it whether a table is there, as they ask the relations of the catalog.
      if (what === 'to_regclass')
        onCatalogQuery({
          relation: 'pg_class',
          text: () => `oid = to_regclass('${names[0] ?? ''}')`,
          rows: () => (answer() === null ? 0 : 1),
        });
      return answer();
    },
    deferred: state.deferred,
    onCatalogQuery,
  };
}

const clockStands = "SQL's clock hardly moves while the sessions run: nothing expires between two statements";
