{{- define "typed-memory.labels" -}}
app.kubernetes.io/name: typed-memory
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "typed-memory.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: tmp
    emptyDir: {}
{{- end }}

{{- define "typed-memory.container" -}}
image: {{ .Values.image | quote }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  - { name: tmp, mountPath: /var/lib/typed-memory }
resources: {{ toJson .Values.resources }}
{{- end }}

{{- define "typed-memory.environment" -}}
envFrom:
  - secretRef: { name: {{ .Values.secret | quote }} }
  - configMapRef: { name: {{ .Release.Name | quote }} }
{{- end }}

{{/* A setting as text. Helm reads each number as a fraction and would write 2000000 as 2e+06. */}}
{{- define "typed-memory.setting" -}}
{{ ternary . (toJson .) (kindIs "string" .) | quote }}
{{- end }}
