/** What functions in SQL may ask of the session and its database. */
import type { CatalogQuery, Surroundings } from '../../sql/index.ts';
import { searchPathOf } from '../settings/index.ts';
import { lockFunctions } from './lock-functions.ts';
import { activityIn, signal } from './session-activity.ts';
import type { SessionParts } from './session-parts.ts';
import { sessionCatalog } from './session-catalog.ts';
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
    sequence: (name) => instance.catalog.sequence(name),
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
    version: instance.rules.version,
    get transactionId() {
      return transaction.number;
    },
    catalog: sessionCatalog({
      searched: () => ({ catalog: instance.catalog, searchPath: searchPathOf(state, instance.catalog) }),
      user: state.options.user,
      // Programs ask it whether a table is there, as they ask the relations of the catalog.
      onLookup: (name, isFound) =>
        onCatalogQuery({
          relation: 'pg_class',
          text: () => `oid = to_regclass('${name}')`,
          rows: () => (isFound() ? 1 : 0),
        }),
    }),
    deferred: state.deferred,
    onCatalogQuery,
  };
}

const clockStands = "SQL's clock hardly moves while the sessions run: nothing expires between two statements";
