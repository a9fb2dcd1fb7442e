// Named schemas are taken out of a description: they stand in `components` once, and references stand in their places.

import { isNamed, type NamedSchema, type PlainSchema, type Schema } from './schema';

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

const PREFIX = '#/components/schemas/';

export class Components {
  readonly #schemas = new Map<string, { readonly from: string; readonly to: Json }>();

  /** The schema as a document has it: with references. @throws Error for two schemas of one name that differ */
  schema(schema: Schema): { readonly [key: string]: Json } {
    if (!isNamed(schema)) return this.#plain(schema);
    this.#add(schema);
    return { $ref: `${PREFIX}${schema.name}`, ...(schema.description !== undefined && { description: schema.description }) };
  }

  /** All named schemas, by name. */
  get schemas(): { readonly [key: string]: Json } {
    const entries = Array.from(this.#schemas, ([name, { to }]) => [name, to] as const);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #add({ name, is }: NamedSchema): void {
    const from = JSON.stringify(is);
    const known = this.#schemas.get(name);
    if (known === undefined) this.#schemas.set(name, { from, to: this.#plain(is) });
    else if (known.from !== from) throw new Error(`two schemas are named ${name}: ${known.from} and ${from}`);
  }

  #plain(schema: PlainSchema): { readonly [key: string]: Json } {
    const { items, prefixItems, properties, additionalProperties, propertyNames, anyOf, ...rest } = schema;
    return {
      ...(rest as { readonly [key: string]: Json }),
      ...(items && { items: this.schema(items) }),
      ...(prefixItems && { prefixItems: prefixItems.map((one) => this.schema(one)) }),
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, this.schema(one)]))
      }),
      ...(propertyNames && { propertyNames: this.schema(propertyNames) }),
      ...(additionalProperties && { additionalProperties: this.schema(additionalProperties) }),
      ...(anyOf && { anyOf: anyOf.map((one) => this.schema(one)) })
    };
  }
}
