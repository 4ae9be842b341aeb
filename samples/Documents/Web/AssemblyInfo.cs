using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("documents")]
[assembly: InternalsVisibleTo("Voron.Documents.Tests")]
