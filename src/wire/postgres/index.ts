export {
  decodePassword,
  decodeSaslInitialResponse,
  encodePassword,
  encodeSaslInitialResponse,
  md5Password,
  type AuthenticationRequest,
  type SaslInitialResponse,
} from './authentication.ts';
export {
  beginDataRow,
  decodeBackend,
  encodeBackend,
  type BackendMessage,
  type FieldDescription,
  type TransactionStatus,
} from './backend.ts';
export { decodeUtf8 } from './body-reader.ts';
export type { ErrorFieldName, ErrorFields } from './error-fields.ts';
export { describeType, frameBytes, FrameSplitter, startupBytes, type Frame, type FrameLimits } from './frames.ts';
export { decodeFrontend, encodeFrontend, frontendKind, type FrontendMessage, type Target } from './frontend.ts';
export { MessageWriter } from './message-writer.ts';
export {
  scramChallenge,
  scramClientFinal,
  scramClientFirst,
  scramMechanism,
  scramVerifier,
  type ScramChallenge,
  type ScramClientFinal,
  type ScramVerifier,
} from './scram.ts';
export { decodeStartup, encodeStartup, type StartupPacket } from './startup.ts';
