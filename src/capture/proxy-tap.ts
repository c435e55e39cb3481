import type { Recording } from './recording.ts';

/** One connection through the proxy, as a function of bytes: what comes from either side, and what passes to the other. */
export interface ProxyTap {
  /** @throws WireError the bytes are no messages of the protocol, or over a limit */
  readonly fromClient: (chunk: Uint8Array) => void;
  /** @throws WireError */
  readonly fromServer: (chunk: Uint8Array) => void;
  /** Either side is gone. */
  readonly close: () => void;
}

export interface TapOptions {
  readonly recording: Recording;
  /** Host and port of the server: databases there are distinguished from others. */
  readonly place: string;
  readonly toClient: (bytes: Uint8Array) => void;
  readonly toServer: (bytes: Uint8Array) => void;
}
