/** Contains a failure of a screen: the navigation and the other screens go on. */

import { Component, type ComponentChildren } from "preact";
import { Button } from "../parts/button.tsx";
import { Notice } from "../parts/marks.tsx";
import { Head } from "../parts/page.tsx";

interface BoundaryProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

interface BoundaryState {
  readonly message?: string;
}

/** Shows its children, or what they failed with. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = {};

  static override getDerivedStateFromError(error: unknown): BoundaryState {
    return { message: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    const { message } = this.state;
    const { title, children } = this.props;
    if (message === undefined) return children;
    const again = (
      <Button icon="refresh" onClick={() => location.reload()}>
        Reload the page
      </Button>
    );
    return (
      <>
        <Head title={title} />
        <Notice tone="bad" isLoud actions={again}>
          This screen failed: {message}. The other screens work. Please report it, with the version
          of the gateway.
        </Notice>
      </>
    );
  }
}
