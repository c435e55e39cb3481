export { authResponse, isAuthPlugin, isAuthResponse, saltBytes, type AuthPlugin } from './auth.ts';
export type { BinaryType, BinaryValue } from './binary-value.ts';
export {
  encodeColumnDefinition,
  type ColumnDefinition,
} from './column-definition.ts';
export {
  decodeCommand,
  encodeCommand,
  multiStatementsOption,
  type ChangeUser,
  type Command,
  type LongData,
} from './command.ts';
export {
  capabilities,
  characterSet,
  columnFlag,
  columnType,
  has,
  serverStatus,
  unreadableCapabilities,
} from './constants.ts';
export { decodeExecution, encodeExecution, type Execution } from './execution.ts';
export {
  decodeAuthSwitch,
  decodeHandshake,
  decodeHandshakeResponse,
  encodeAuthSwitch,
  encodeHandshake,
  encodeHandshakeResponse,
  fastAuthSuccess,
  isSslRequest,
  type AuthSwitch,
  type Handshake,
  type HandshakeResponse,
} from './handshake.ts';
export { encodePacket, packetHeaderBytes, PacketReader, type Packet } from './packet.ts';
export {
  decodeError,
  decodeOk,
  decodePrepareOk,
  encodeColumnCount,
  encodeEof,
  encodeError,
  encodeOk,
  encodePrepareOk,
  type ErrorPacket,
  type OkPacket,
  type PrepareOk,
} from './response.ts';
export { ResponseReader, type ServerMessage } from './response-reader.ts';
export { decodeTextRow, encodeBinaryRow, encodeTextRow } from './row.ts';
export type { WireDateTime, WireTime } from './temporal.ts';
