{{/* The template of a pod, for the StatefulSet and the Deployment. */}}
{{- define "sluice.pod" -}}
{{- if .Values.config.existingConfigMap -}}
{{- if .Values.config.pipelines -}}
{{- fail "config.pipelines has no effect beside config.existingConfigMap: put the pipelines there" -}}
{{- end -}}
{{- if eq .Values.config.rollout "restart" -}}
{{- fail "config.rollout: restart sees no edit of config.existingConfigMap: use reload" -}}
{{- end -}}
{{- end -}}
{{- $scheme := ternary "HTTPS" "HTTP" (ne .Values.tls.existingSecret "") -}}
metadata:
  labels:
    {{- include "sluice.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or .Values.podAnnotations (eq .Values.config.rollout "restart") }}
  annotations:
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- if eq .Values.config.rollout "restart" }}
    checksum/config: {{ printf "%s%s" (include "sluice.gateway" .) (toJson .Values.config.pipelines) | sha256sum }}
    {{- end }}
  {{- end }}
spec:
  serviceAccountName: {{ include "sluice.fullname" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add (include "sluice.seconds" .Values.drain.delay | int) (include "sluice.seconds" .Values.drain.timeout | int) (.Values.drain.margin | int) }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext: {{- include "sluice.podSecurity" . | nindent 4 }}
  containers:
    - name: sluice
      image: {{ include "sluice.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve]
      env:
        - { name: SLUICE_CONFIG, value: /etc/sluice/gateway.yaml }
        - { name: NODE_OPTIONS, value: {{ printf "--max-old-space-size=%d" (.Values.maxOldSpaceMb | int) | quote }} }
        - name: SLUICE_MASTER_KEY
          valueFrom:
            secretKeyRef: { name: {{ required "masterKey.existingSecret is missing: kubectl create secret generic sluice --from-literal=master-key=sk-$(openssl rand -hex 32), then masterKey.existingSecret=sluice" .Values.masterKey.existingSecret }}, key: {{ .Values.masterKey.key }} }
        {{- with include "sluice.references" . | trim }}
        {{- . | nindent 8 }}
        {{- end }}
      {{- with .Values.envFrom }}
      envFrom: {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - { name: clients, containerPort: 4000 }
        - { name: admin, containerPort: {{ .Values.admin.port | int }} }
      # A large configuration runs its tests before it serves.
      startupProbe:
        httpGet: { path: /health/live, port: clients, scheme: {{ $scheme }} }
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: { path: /health/live, port: clients, scheme: {{ $scheme }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        httpGet: { path: /health/ready, port: clients, scheme: {{ $scheme }} }
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 1
      securityContext: {{- include "sluice.containerSecurity" . | nindent 8 }}
      resources: {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - { name: config, mountPath: /etc/sluice, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- if .Values.pepper.existingSecret }}
        - { name: pepper, mountPath: /data/pepper, subPath: pepper, readOnly: true }
        {{- end }}
        {{- if .Values.tls.existingSecret }}
        - { name: tls, mountPath: /tls, readOnly: true }
        {{- end }}
  volumes:
    - name: config
      configMap:
        name: {{ include "sluice.configMap" . }}
        {{- if not .Values.config.existingConfigMap }}
        items: {{- include "sluice.configItems" . | nindent 10 }}
        {{- end }}
    - name: tmp
      emptyDir: { medium: Memory, sizeLimit: 64Mi }
    {{- if not .Values.persistence.enabled }}
    - name: data
      emptyDir: {}
    {{- end }}
    {{- if .Values.pepper.existingSecret }}
    - name: pepper
      secret:
        secretName: {{ .Values.pepper.existingSecret }}
        defaultMode: 0440
        items: [{ key: {{ .Values.pepper.key }}, path: pepper }]
    {{- end }}
    {{- if .Values.tls.existingSecret }}
    - name: tls
      secret: { secretName: {{ .Values.tls.existingSecret }}, defaultMode: 0440 }
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- if .Values.topologySpreadConstraints }}
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
    {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "sluice.selector" . | nindent 10 }}
    {{- end }}
{{- end -}}
