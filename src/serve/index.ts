export { connectTo, type ConnectToOptions, startConversation } from './connect.ts';
export { httpInterface } from './http/interface.ts';
export { listen, type Listener, type ListenOptions } from './listener.ts';
