// The methods of an OpenRPC document, and what is wrong with their parameters and results.

import { Described, type Document, type DocumentSchema } from './described';

interface DocumentParameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: DocumentSchema;
}

export interface DocumentMethod {
  readonly name: string;
  readonly summary: string;
  readonly params: readonly DocumentParameter[];
  readonly result: { readonly schema: DocumentSchema };
  readonly 'x-notification'?: { readonly params: readonly DocumentParameter[] };
}

export interface RpcDocument extends Document {
  readonly openrpc: string;
  readonly methods: readonly DocumentMethod[];
}

export class DescribedRpc {
  readonly schemas: Described;
  readonly methods: ReadonlyMap<string, DocumentMethod>;

  constructor(document: RpcDocument) {
    this.schemas = new Described(document);
    this.methods = new Map(document.methods.map((method) => [method.name, method]));
  }

  /** What is wrong with a result, and fields of it that must be there and that nobody would miss. */
  faultsIn(name: string, result: unknown): string[] {
    return this.#faults(name, this.method(name).result.schema, result);
  }

  /** The same of a notification's parameters. */
  faultsInNotification(name: string, params: readonly unknown[]): string[] {
    const described = this.method(name)['x-notification']?.params ?? [];
    if (described.length !== params.length) return [`${name}: ${params.length} parameters`];
    return described.flatMap(({ schema }, i) => this.#faults(name, schema, params[i]));
  }

  /** What is wrong with parameters by position that a call accepts. */
  faultsInParameters(name: string, params: readonly unknown[]): string[] {
    const described = this.method(name).params;
    return params.flatMap((value, i) => {
      const parameter = described[i];
      if (parameter === undefined) return [`${name}: parameter ${i}`];
      // Whoever leaves an optional parameter out before another one says null.
      const fault = value === null && !parameter.required ? undefined : this.schemas.faultIn(parameter.schema, value);
      return fault === undefined ? [] : [`${name}: ${parameter.name}: ${fault}`];
    });
  }

  method(name: string): DocumentMethod {
    const method = this.methods.get(name);
    if (method === undefined) throw new Error(`expected a method that the document has, got ${name}`);
    return method;
  }

  #faults(name: string, schema: DocumentSchema, value: unknown): string[] {
    const fault = this.schemas.faultIn(schema, value);
    if (fault !== undefined) return [`${name}: ${fault}`];
    return this.schemas.unmissed(schema, value).map((place) => `${name}: ${place} is not missed`);
  }
}
