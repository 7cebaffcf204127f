#!/usr/bin/env node
// The command of @sluice/cli. Started from here, it finds the plugins among the dependencies of this package.
import "@sluice/cli/bin/sluice.js";
