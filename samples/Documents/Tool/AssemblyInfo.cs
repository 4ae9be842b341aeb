using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("Voron.Documents.Tests")]
