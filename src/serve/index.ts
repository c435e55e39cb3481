export { connectTo, type ConnectToOptions, queriesOf, startConversation } from './connect.ts';
export type { SessionQueries, TextAnswer } from './postgres/session-queries.ts';
export { duplexPair } from './duplex-pair.ts';
export { httpInterface } from './http/interface.ts';
export { listen, type Listener, type ListenOptions } from './listener.ts';
export { type ServedDatabase, serveDatabase, type ServeDatabaseOptions } from './serve-database.ts';
