export { connectTo, type ConnectToOptions, startConversation } from './connect.ts';
export { httpInterface } from './http/interface.ts';
export { listen, type Listener, type ListenOptions } from './listener.ts';
export { type ServedDatabase, serveDatabase, type ServeDatabaseOptions } from './serve-database.ts';
