export { parseTrace, TraceReader, type TraceReaderOptions } from '../history/trace-reader.ts';
