/** Dense tables: chosen columns, one page of the gateway at a time, CSV of the rows. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ApiError } from "../api/api-error.ts";
import { Button } from "./button.tsx";
import { downloadCsv } from "./csv.ts";
import { CheckField } from "./field.tsx";
import { Menu } from "./menu.tsx";
import { Panel } from "./page.tsx";
import { Failure } from "./states.tsx";

/** One column. */
export interface Column<Row> {
  readonly name: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The value in CSV. Absent: the column is not in it. */
  readonly text?: (row: Row) => string | number | null | undefined;
  readonly isNumber?: boolean;
  /** The first column names the row and is always shown. */
  readonly isHead?: boolean;
  readonly isHiddenAtFirst?: boolean;
}

/** What a table shows. */
export interface TableProps<Row> {
  /** For screen readers, and the name of the CSV file. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string;
  readonly error?: ApiError | null | undefined;
  readonly onRetry?: () => void;
  /** In place of the table when there is no row. */
  readonly empty?: ComponentChildren;
}

/** The columns that are shown, kept for the time of the page. */
export interface Chosen {
  readonly names: ReadonlySet<string>;
  readonly toggle: (name: string) => void;
}

/** Which columns of a table are shown. */
export function useColumns<Row>(columns: readonly Column<Row>[]): Chosen {
  const first = columns.filter(({ isHiddenAtFirst }) => isHiddenAtFirst !== true);
  const [names, setNames] = useState<ReadonlySet<string>>(new Set(first.map(({ name }) => name)));
  const toggle = (name: string): void => {
    const next = new Set(names);
    if (!next.delete(name)) next.add(name);
    setNames(next);
  };
  return { names, toggle };
}

/** Which columns, and the shown rows as CSV. */
export function TableTools<Row>(props: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly chosen: Chosen;
  readonly rows: readonly Row[] | undefined;
}) {
  const { caption, columns, chosen, rows = [] } = props;
  const shown = columns.filter(({ name }) => chosen.names.has(name));
  return (
    <>
      <Menu label="Columns" icon="columns" isIconOnly>
        {columns
          .filter(({ isHead }) => isHead !== true)
          .map(({ name, title }) => (
            <CheckField
              key={name}
              label={title}
              checked={chosen.names.has(name)}
              onInput={() => chosen.toggle(name)}
            />
          ))}
      </Menu>
      <Button
        kind="quiet"
        icon="download"
        label="Download as CSV"
        disabled={rows.length === 0}
        onClick={() => downloadCsv(caption, shown, rows)}
      />
    </>
  );
}

const SKELETON_ROWS = 8;

/** The table. Before the first answer it has lines in place of rows. */
export function Table<Row>(props: TableProps<Row> & { readonly chosen?: Chosen }) {
  const { caption, rows, keyOf, error, onRetry, empty, chosen } = props;
  const columns = props.columns.filter(
    ({ name, isHead }) => isHead === true || chosen === undefined || chosen.names.has(name),
  );
  if (error && rows === undefined)
    return (
      <div class="pad">
        <Failure error={error} onRetry={onRetry} />
      </div>
    );
  if (rows?.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    // A scrollable region must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div class="table-box" tabIndex={0} role="region" aria-label={caption}>
      <table class="table" aria-busy={rows === undefined}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                class={column.isNumber === true ? "num" : undefined}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? Array.from({ length: SKELETON_ROWS }, (_, index) => (
                <tr key={index}>
                  {columns.map(({ name }) => (
                    <td key={name}>
                      <span class="skeleton" />
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => <BodyRow key={keyOf(row)} row={row} columns={columns} />)}
        </tbody>
      </table>
    </div>
  );
}

/** A panel that is a table of the same name. */
export function TablePanel<Row>(
  props: Omit<TableProps<Row>, "caption"> & {
    readonly title: string;
    readonly end?: ComponentChildren;
  },
) {
  const { title, end, ...table } = props;
  return (
    <Panel title={title} isFlush end={end}>
      <Table caption={title} {...table} />
    </Panel>
  );
}

function BodyRow<Row>({ row, columns }: { row: Row; columns: readonly Column<Row>[] }) {
  return (
    <tr>
      {columns.map(({ name, cell, isHead, isNumber }) =>
        isHead === true ? (
          <th key={name} scope="row">
            {cell(row)}
          </th>
        ) : (
          <td key={name} class={isNumber === true ? "num" : undefined}>
            {cell(row)}
          </td>
        ),
      )}
    </tr>
  );
}

/** The foot of a list by cursor: how much is shown, and the way to the next page. */
export function Pager(props: {
  readonly shown: number;
  readonly noun: string;
  readonly isFirst: boolean;
  readonly hasNext: boolean;
  readonly onFirst: () => void;
  readonly onNext: () => void;
}) {
  const { shown, noun, isFirst, hasNext, onFirst, onNext } = props;
  return (
    <div class="foot">
      <span class="num">
        {shown} {noun}
      </span>
      {(!isFirst || hasNext) && (
        <span class="end">
          <Button disabled={isFirst} onClick={onFirst}>
            First page
          </Button>
          <Button disabled={!hasNext} onClick={onNext}>
            Next page
          </Button>
        </span>
      )}
    </div>
  );
}
