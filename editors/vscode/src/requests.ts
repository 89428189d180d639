// The requests and the notification of the server that the protocol itself does not have.
import { NotificationType, Position, Range, RequestType, TextDocumentIdentifier } from 'vscode-languageclient/node';

export interface Told {
  uri: string;
  version: number;
  count: number;
  limit?: number;
  encoding?: string;
  note?: string;
  /** Why it is not counted as the settings say. */
  problem?: string;
}

/** A model with its `encoding`, the `note` of its estimate, or the `file` or `service` that it needs. */
export interface Model {
  name: string;
  group: string;
  encoding?: string;
  note?: string;
  file?: string;
  service?: string;
  context?: number;
}

export interface PromptParams {
  textDocument: TextDocumentIdentifier;
  position: Position;
  limit: number;
  template?: string;
}

export interface Prompt {
  prefix: string;
  suffix: string;
  text?: string;
  ids: number[];
  count: number;
  prefixWasCut: boolean;
  suffixWasCut: boolean;
  version: number;
}

export interface RangeParams {
  textDocument: TextDocumentIdentifier;
  range: Range;
}

export interface Token {
  id: number;
  text: string;
  range: Range;
}

export const didCount = new NotificationType<Told>('compatBpe/didCount');
export const fitPrompt = new RequestType<PromptParams, Prompt, void>('compatBpe/fitPrompt');
export const countRange = new RequestType<RangeParams, { count: number; version: number }, void>('compatBpe/count');
export const countEmpty = new RequestType<Record<string, string>, unknown, void>('compatBpe/count');
export const names = new RequestType<object, { models: Model[] }, void>('compatBpe/names');
export const tokensOf = new RequestType<RangeParams, { tokens: Token[]; version: number }, void>('compatBpe/tokens');
